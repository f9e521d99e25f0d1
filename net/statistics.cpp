#include "net/statistics.hpp"

#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "net/log.hpp"

namespace trigram::net {
namespace {

struct Paths {
  std::mutex mutex;
  std::map<std::string, PathCounters> counters;
};

Paths& paths() {
  static Paths all;
  return all;
}

constexpr std::pair<const char*, std::atomic<std::uint64_t> PathCounters::*> figures[] = {
    {"sent_bytes", &PathCounters::sent_bytes},
    {"received_bytes", &PathCounters::received_bytes},
    {"chunks", &PathCounters::chunks},
    {"repeated_chunks", &PathCounters::repeated},
    {"stalls", &PathCounters::stalls},
    {"lost_connections", &PathCounters::lost},
    {"opened_connections", &PathCounters::opened}};

std::string metrics() {
  std::ostringstream text;
  const std::lock_guard lock(paths().mutex);
  for (const auto& [name, counter] : figures) {
    text << "# TYPE trigram_net_" << name << "_total counter\n";
    for (const auto& [path, counters] : paths().counters) {
      text << "trigram_net_" << name << "_total{path=\"" << path << "\"} " << counters.*counter << '\n';
    }
  }
  text << "# TYPE trigram_net_round_trip_seconds gauge\n";
  for (const auto& [path, counters] : paths().counters) {
    text << "trigram_net_round_trip_seconds{path=\"" << path << "\"} " << counters.round_trip_us * 1e-6 << '\n';
  }
  return text.str();
}

}  // namespace

PathCounters& counters_of(const std::string& path) {
  const std::lock_guard lock(paths().mutex);
  return paths().counters[path];
}

std::string table_of_paths() {
  const std::lock_guard lock(paths().mutex);
  std::string table;
  char line[256];
  for (const auto& [path, counters] : paths().counters) {
    std::snprintf(line, sizeof line, "\n%-36s %15ju %15ju %9ju %9ju %7ju %6ju %9.3f", path.c_str(),
                  static_cast<std::uintmax_t>(counters.sent_bytes),
                  static_cast<std::uintmax_t>(counters.received_bytes), static_cast<std::uintmax_t>(counters.chunks),
                  static_cast<std::uintmax_t>(counters.repeated), static_cast<std::uintmax_t>(counters.stalls),
                  static_cast<std::uintmax_t>(counters.lost), counters.round_trip_us * 1e-3);
    table += line;
  }
  if (table.empty()) return table;
  std::snprintf(line, sizeof line, "%-36s %15s %15s %9s %9s %7s %6s %9s", "path", "bytes sent", "received", "chunks",
                "repeated", "stalls", "lost", "rtt ms");
  return line + table;
}

void write_metrics(const std::string& file) {
  if (file.empty()) return;
  const std::string beside = file + ".new";
  std::ofstream out(beside);
  out << metrics();
  out.close();
  static std::atomic_flag warned;
  if ((!out || std::rename(beside.c_str(), file.c_str()) != 0) && !warned.test_and_set()) {
    warn("TRIGRAM_NET_METRICS=" + file + " cannot be written");
  }
}

}  // namespace trigram::net
