// Digests: short names for configurations, programs and files.
#pragma once

#include <filesystem>
#include <string>

namespace trigram {

/// FNV-1a of 64 bits, in hexadecimal. It tells apart what changed by accident or on purpose, not what was forged.
std::string digest(const std::string& text);

/// The digest of a file's bytes; empty where it cannot be read.
std::string file_digest(const std::filesystem::path& path);

/// Of this program's file: what another build has made has another one.
const std::string& program_digest();

}  // namespace trigram
