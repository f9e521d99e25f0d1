// Widths of layers, as parameters of networks give them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trigram {

/// "64x32" is {64, 32}. Throws UsageError, which names `owner` and `key`, for what is no list of widths from 1 on, and
/// for more than anybody trains.
std::vector<std::int64_t> parse_widths(const std::string& owner, const std::string& key, const std::string& text);

}  // namespace trigram
