// Whole files, compressed or not.
#pragma once

#include <limits>
#include <set>
#include <string>

namespace trigram {

/// The bytes of a file; gzip is recognised by its content and undone. Throws UsageError naming the file when it cannot
/// be read, its compressed stream is cut short or damaged, or it holds more than `most` bytes, stored or unpacked.
std::string read_file(const std::string& path, double most = std::numeric_limits<double>::infinity());

/// The first `count` bytes of a file, or all where it has fewer: so that what begins wrongly is refused before the rest
/// is read. Otherwise the same.
std::string read_begin(const std::string& path, double count);

/// The paths of all files that this process has read so: what its results depend on. Any thread may call.
std::set<std::string> files_read();

}  // namespace trigram
