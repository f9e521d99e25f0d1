// Whole files, compressed or not.
#pragma once

#include <set>
#include <string>

namespace trigram {

/// The bytes of a file; gzip is recognised by its content and undone. Throws UsageError naming the file when it cannot
/// be read or its compressed stream is cut short or damaged.
std::string read_file(const std::string& path);

/// The paths of all files that this process has read so: what its results depend on. Any thread may call.
std::set<std::string> files_read();

}  // namespace trigram
