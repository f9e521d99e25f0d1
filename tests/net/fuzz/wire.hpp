// One fuzzed conversation with the plugin.
#pragma once

#include <cstdint>
#include <span>

namespace trigram::tests {

/// Ends the process where what was heard breaks a promise; a sanitizer ends it where memory is touched that must not
/// be.
void hear(std::span<const std::uint8_t> input);

}  // namespace trigram::tests
