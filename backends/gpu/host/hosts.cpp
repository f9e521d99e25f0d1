#include "backends/gpu/host/hosts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram::gpu {
namespace {

std::string machine_of(const RankLocation& location) { return location.host + "/" + location.boot; }

/// Ranks by the machine and GPU that they sit at.
std::map<std::string, std::vector<int>> ranks_by_device(const std::vector<RankLocation>& locations) {
  std::map<std::string, std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < locations.size(); ++rank) {
    ranks[machine_of(locations[rank]) + "/" + locations[rank].device].push_back(static_cast<int>(rank));
  }
  return ranks;
}

bool any_shared(const std::vector<RankLocation>& locations) {
  return std::ranges::any_of(ranks_by_device(locations), [](const auto& entry) { return entry.second.size() > 1; });
}

bool one_machine(const std::vector<RankLocation>& locations) {
  return std::ranges::all_of(
      locations, [&](const RankLocation& location) { return machine_of(location) == machine_of(locations.front()); });
}

}  // namespace

RankLocation RankLocation::here() {
  RankLocation location;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  location.host = name.data();
  std::ifstream("/proc/sys/kernel/random/boot_id") >> location.boot;
  return location;
}

Bytes RankLocation::packed() const {
  return bytes_of(nlohmann::json{{"host", host}, {"boot", boot}, {"device", device}, {"name", device_name}}.dump());
}

RankLocation RankLocation::from(const Bytes& bytes) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text_of(bytes));
    return {json.at("host"), json.at("boot"), json.at("device"), json.at("name")};
  } catch (const nlohmann::json::exception& error) {
    throw Error("what a rank says of its machine cannot be read: " + std::string(error.what()));
  }
}

std::vector<int> number_hosts(const std::vector<RankLocation>& locations) {
  std::map<std::string, int> numbers;
  std::vector<int> hosts;
  for (const RankLocation& location : locations) {
    hosts.push_back(numbers.try_emplace(machine_of(location), static_cast<int>(numbers.size())).first->second);
  }
  return hosts;
}

int place_on_host(const std::vector<int>& node_of_rank, int rank) {
  const auto begin = node_of_rank.begin();
  return static_cast<int>(std::count(begin, begin + rank, node_of_rank.at(static_cast<std::size_t>(rank))));
}

int device_for(int place, int devices) {
  ensure(devices > 0, "there is no device to choose from");
  return place % devices;
}

std::vector<std::string> shared_devices(const std::vector<RankLocation>& locations) {
  std::vector<std::string> texts;
  for (const auto& [device, ranks] : ranks_by_device(locations)) {
    if (ranks.size() < 2) continue;
    std::string list;
    for (const int rank : ranks) list += (list.empty() ? "" : ", ") + std::to_string(rank);
    const RankLocation& location = locations[static_cast<std::size_t>(ranks.front())];
    texts.push_back("ranks " + list + " share " + location.device + " (" + location.device_name + ") of " +
                    location.host);
  }
  return texts;
}

void require_devices_of_their_own(const std::vector<RankLocation>& locations, int rank) {
  if (!any_shared(locations)) return;
  const std::string why = shared_devices(locations).front() + ", and members that come and go need a GPU each";
  for (const auto& [device, ranks] : ranks_by_device(locations)) {
    require(std::ranges::find(ranks.begin() + 1, ranks.end(), rank) == ranks.end(), why,
            "; start this one with another, as by CUDA_VISIBLE_DEVICES, or have its model elsewhere");
  }
  throw BackendError(why);
}

std::string devices_text(const std::vector<RankLocation>& locations) {
  std::map<std::string, std::set<std::string>> devices;
  std::size_t count = 0;
  for (const RankLocation& location : locations)
    count += devices[location.device_name].insert(location.boot + location.device).second ? 1 : 0;
  std::string text;
  for (const auto& [name, ids] : devices) {
    text += (text.empty() ? "" : ", ") + (ids.size() == 1 ? "" : std::to_string(ids.size()) + " x ") + name;
  }
  return text + (count < locations.size() ? " for " + std::to_string(locations.size()) + " ranks" : "");
}

std::string driver_in(const std::string& proc_text) {
  std::istringstream words(proc_text);
  for (std::string word; words >> word;) {
    const bool version =
        word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos;
    if (version) return word;
  }
  return {};
}

Environment nccl_environment(const std::vector<RankLocation>& locations, int rank) {
  // Lanes have communicators of their own on streams of their own, issued in one order on all ranks.
  Environment wanted{{"NCCL_LAUNCH_ORDER_IMPLICIT", "1"}};
  if (!any_shared(locations)) return wanted;
  wanted.insert({{"NCCL_HOSTID", "trigram-rank-" + std::to_string(rank)},
                 {"NCCL_IB_DISABLE", "1"},
                 {"NCCL_NET", "Socket"},
                 {"NCCL_NVLS_ENABLE", "0"},
                 {"NCCL_MNNVL_ENABLE", "0"},
                 {"NCCL_CUMEM_HOST_ENABLE", "0"},
                 {"NCCL_RAS_ENABLE", "0"},
                 {"NCCL_MAX_CTAS", "2"},
                 {"NCCL_CGA_CLUSTER_SIZE", "0"},
                 // Processes take turns on the GPU: each fill of an LL buffer would cost a turn.
                 {"NCCL_PROTO", "Simple"}});
  if (one_machine(locations)) wanted["NCCL_SOCKET_IFNAME"] = "lo";
  return wanted;
}

void refuse_settings_that_deadlock() {
  const char* order = std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (order == nullptr) return;
  constexpr int any_base = 0;  // as NCCL reads it, to which a word is 0
  require(std::strtoll(order, nullptr, any_base) != 0,
          "NCCL_LAUNCH_ORDER_IMPLICIT=" + shown(order) +
              " is set: lanes have groups of their own on one GPU, which could then wait for each other for ever; "
              "unset it, or set it to 1");
}

Environment cuda_environment() { return {{"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_DEVICE_MAX_CONNECTIONS", "32"}}; }

Environment set_missing(const Environment& wanted) {
  Environment done;
  for (const auto& [name, value] : wanted) {
    // No thread that runs by now reads the environment. NOLINTBEGIN(concurrency-mt-unsafe)
    if (std::getenv(name.c_str()) != nullptr) continue;
    setenv(name.c_str(), value.c_str(), 0);
    // NOLINTEND(concurrency-mt-unsafe)
    done[name] = value;
  }
  return done;
}

}  // namespace trigram::gpu
