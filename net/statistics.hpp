// What each path has carried, for the table at the end and for a file of metrics.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace trigram::net {

/// Counted by whoever uses the path, while others may read.
struct PathCounters {
  std::atomic<std::uint64_t> sent_bytes = 0;
  std::atomic<std::uint64_t> received_bytes = 0;
  std::atomic<std::uint64_t> chunks = 0;    ///< sent or received
  std::atomic<std::uint64_t> repeated = 0;  ///< of them sent again, after another path had them, or received again
  std::atomic<std::uint64_t> stalls = 0;    ///< times that nothing was acknowledged for a second
  std::atomic<std::uint64_t> lost = 0;      ///< connections that ended
  std::atomic<std::uint64_t> opened = 0;    ///< connections
  std::atomic<std::uint32_t> round_trip_us = 0;
};

/// Those of the path with that name, "10.0.0.1 - 10.0.0.2", for the life of the process.
PathCounters& counters_of(const std::string& path);

/// Lines of a table, one a path; empty where nothing was opened.
std::string table_of_paths();

/// Replaces the file by the figures in Prometheus' text format. Warns once where it cannot be written; an empty name:
/// nothing.
void write_metrics(const std::string& file);

}  // namespace trigram::net
