// Bytes, as ranks and processes send and keep them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trigram {

using Bytes = std::vector<std::byte>;

/// Text as bytes and back.
Bytes bytes_of(const std::string& text);
std::string text_of(const Bytes& bytes);

}  // namespace trigram
