#include "net/stream/path.hpp"

#include <algorithm>

namespace trigram::net {

std::vector<Path> paths_to(const std::vector<Interface>& interfaces, const std::vector<Address>& addresses) {
  std::vector<Path> paths;
  std::vector<bool> has_way(interfaces.size());
  const auto near = [](const Interface& one, const Address& to) { return same_network(one.address, to, one.prefix); };
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    for (const auto& to : addresses) {
      if (!near(interfaces[i], to)) continue;
      paths.push_back({interfaces[i], to});
      has_way[i] = true;
    }
  }
  for (std::size_t i = 0; i < std::max(interfaces.size(), addresses.size()); ++i) {
    const std::size_t own = i % interfaces.size();
    const auto& to = addresses[i % addresses.size()];
    const bool reached =
        std::any_of(interfaces.begin(), interfaces.end(), [&](const auto& one) { return near(one, to); });
    if ((has_way[own] && reached) || interfaces[own].address.family() != to.family()) continue;
    if (!has_way[own] || !reached) paths.push_back({interfaces[own], to});
  }
  return paths;
}

int streams_of(const Path& path, int asked) {
  if (asked > 0) return asked;
  // There an end often finds a connection full, or empty; of two, one mostly goes on.
  if (path.from.name == "lo") return 2;
  if (path.from.speed >= 50000) return 4;
  return path.from.speed >= 25000 ? 2 : 1;
}

std::size_t parts_over(const std::vector<Path>& paths, std::size_t streams) {
  if (paths.size() != 1) return 0;
  return paths.front().from.name == "lo" ? 1 : streams;
}

}  // namespace trigram::net
