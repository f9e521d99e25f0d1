// Small files as text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace trigram {

/// A file, or its first `most` bytes; nothing where it cannot be read, and errno says why.
std::optional<std::string> read_text(const std::filesystem::path& path, std::size_t most = std::string::npos);

/// A file that somebody wrote by hand, of a MiB at most: what is longer may be a device that never ends. Throws
/// UsageError naming the path; `what` it was read as is for messages: "a list of settings".
std::string text_by_hand(const std::filesystem::path& path, const std::string& what);

}  // namespace trigram
