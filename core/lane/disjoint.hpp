// What one exchange writes, nothing else in it reads or writes.
#pragma once

#include <span>

#include "core/lane/communicator.hpp"

namespace trigram {

/// Throws Error naming both transfers where memory that one of them receives into belongs to another of them too:
/// whether old or new bytes would travel differs from backend to backend. Phantoms have no memory to compare.
void require_disjoint(std::span<const Transfer> transfers);

}  // namespace trigram
