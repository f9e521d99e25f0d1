// Small files as text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace trigram {

/// A file, or its first `most` bytes; nothing where it cannot be read, and errno says why.
std::optional<std::string> read_text(const std::filesystem::path& path, std::size_t most = std::string::npos);

}  // namespace trigram
