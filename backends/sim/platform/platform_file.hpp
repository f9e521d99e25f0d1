// SimGrid platform files, looked at before a simulation relies on them.
#pragma once

#include <string>

namespace trigram::sim {

/// How many hosts a platform file has. SimGrid ends its process for many a mistake, so the file is read in a process of
/// its own: speeds and bandwidths must be above 0, latencies not negative, all of them finite, and there must be a way
/// between all hosts (beyond 128 of them, between each and some others). Throws UsageError naming the file, the part
/// and what SimGrid says of it.
int hosts_of_platform_file(const std::string& path);

}  // namespace trigram::sim
