// What an algorithm recorded, as bytes for another process.
#pragma once

#include "core/lane/worker.hpp"

namespace trigram {

class Packer;
class Unpacker;

/// As bytes and back.
void put(Packer& packer, const Records& records);
Records take_records(Unpacker& unpacker);

}  // namespace trigram
