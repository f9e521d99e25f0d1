// Reads a cluster from parameters and says which of them cannot matter.
#include "backends/sim/cluster/cluster.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "backends/sim/cluster/node_paths.hpp"
#include "backends/sim/cluster/outages.hpp"
#include "core/values/error.hpp"
#include "core/values/frames.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"

namespace trigram::sim {

namespace {

constexpr int most_nodes = 1 << 16, most_gpus_of_a_node = 1024;

constexpr double least_mtu = 68, most_mtu = 65536;

/// Bytes or operations a second that let time pass.
constexpr Range<double> rates{.least = 0.1};

/// Whether `key`, read as `text`, is `yes`.
bool choose(const Params& params, const std::string& text, const std::string& key, const std::string& no,
            const std::string& yes) {
  require(text == no || text == yes, params.owner(), ": '", key, "' is ", no, " or ", yes, ", not ", Quoted(text));
  return text == yes;
}

/// Where the value of `key` stands.
auto place_of(const Params& params, const char* key) {
  return [&params, key] { return params.owner() + ": '" + key + "': "; };
}

std::vector<std::string> given(const Params& params, std::initializer_list<const char*> keys) {
  std::vector<std::string> found;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(found), [&](const char* key) { return params.has(key); });
  return found;
}

void warn(std::vector<std::string>& warnings, const std::vector<std::string>& keys, const std::string& reason) {
  if (keys.empty()) return;
  std::string named;
  for (const std::string& key : keys) named += (named.empty() ? "'" : ", '") + key + "'";
  warnings.push_back(named + (keys.size() == 1 ? " has" : " have") + " no influence: " + reason);
}

}  // namespace

Cluster::Cluster(Params& params) : owner_(params.owner()) {
  read_run(params);
  read_nodes(params);
  read_links(params);
  read_host(params);
  read_topology(params);
  read_gpu(params);
  read_events(params);
  expenses = read_expenses(params);
  given_transfer_keys_ = given(params, {"nic_energy", "transfer_price"});
  check_targets();
  changes = changes_with_outages();
  check_burst();
}

void Cluster::refuse(const std::vector<std::string>& keys, const char* reason) const {
  require(
      keys.empty(), owner_, ": '", [&] { return keys.front(); }, "' cannot influence ", reason, "; leave it out");
}

void Cluster::read_run(Params& params) {
  fluid = choose(
      params,
      params.get("fidelity", "exact", "exact: every message is a flow; fluid: a collective is one flow a rank at most"),
      "fidelity", "exact", "fluid");
  timeout = params.get("timeout", "0s", Unit::seconds,
                       "simulated time that one operation may block; 0s: as long as it takes");
  require(timeout == 0 || timeout >= 1e-12, params.owner(), ": timeout=", number_text(timeout),
          "s is shorter than a simulation can tell; give 1e-12s or more, or 0s for none");
  platform = params.get("platform", "",
                        "a SimGrid platform XML file instead of nodes and links; its hosts in order are GPUs, and "
                        "one of 1Gf is as fast as the gpu keys say");
  std::error_code unreadable;
  require(platform.empty() || std::filesystem::is_regular_file(platform, unreadable), owner_, ": platform file ",
          Quoted(platform), " does not exist or is no file");
  ranks_per_node =
      params.get("ranks_per_node", 0, "ranks that make a node; 0: all its GPUs, one on a platform file", {0, 1 << 20});
}

void Cluster::read_nodes(Params& params) {
  const int nodes = params.get("nodes", 2, "number of nodes", {1, most_nodes});
  const std::string text = params.get("gpus_per_node", "4", "GPUs of each node: one number, or one a node: 4 8 8");
  if (!platform.empty()) refuse(given(params, {"nodes", "gpus_per_node"}), "a platform file");
  const auto place = place_of(params, "gpus_per_node");
  for (const std::string& word : split_at_spaces(text)) {
    gpus.push_back(located(place, [&] { return parse_index(word, text); }));
  }
  require(gpus.size() <= most_nodes, place, "names ", gpus.size(), " nodes; there can be ", most_nodes);
  if (gpus.size() == 1) gpus.assign(static_cast<std::size_t>(nodes), gpus.front());
  require(!params.has("nodes") || gpus.size() == static_cast<std::size_t>(nodes), place, "names ", gpus.size(),
          " nodes, 'nodes' says ", nodes);
  const auto [fewest, most] = std::minmax_element(gpus.begin(), gpus.end());
  require(!gpus.empty() && *fewest > 0 && *most <= most_gpus_of_a_node, place, Quoted(text),
          " gives a node none or too many; each has from 1 to ", most_gpus_of_a_node, " GPUs");
  require(ranks_per_node <= *fewest || !platform.empty(), owner_, ": 'ranks_per_node' is ", ranks_per_node,
          ", and there is a node of ", *fewest, " GPUs; give at most as many");
}

void Cluster::read_links(Params& params) {
  const NodePaths paths(params);
  const double mtu = params.get("mtu", "0", Unit::bytes,
                                "largest packet between nodes, as ip link shows it: TCP's payload is mtu - 52 of each "
                                "mtu + 38 bytes on the wire; 0: nic_efficiency alone says");
  require(mtu == 0 || (mtu >= least_mtu && mtu <= most_mtu), place_of(params, "mtu"), mtu,
          " bytes are no packet: give ", least_mtu, "B to ", most_mtu, "B, as 1500B or 9001B, or 0");
  const double efficiency =
      params.get("nic_efficiency", payload_share(mtu),
                 "share of nic_bandwidth that payload can use; where it is not given, what an mtu leaves", {1e-6, 1});
  const double cap =
      params.get("nic_cap", "0", Unit::bytes_per_second, "most that the protocol reaches on a NIC; 0: no cap");
  nic_bandwidth = paths.bandwidth(efficiency, cap);
  nic_data_sheet = paths.bandwidth(1, 0);
  nic_paths = paths.chunked(efficiency, cap);
  nic_latency = params.get("nic_latency", "10us", Unit::seconds, "of a message between nodes, end to end");
  nic_handshake = params.get("nic_handshake", "0", Unit::seconds,
                             "added for a message larger than handshake_size, whose sender asks before it sends");
  handshake_size =
      params.get("handshake_size", "64KiB", Unit::bytes, "largest message between nodes that is sent without asking");
  if (nic_handshake == 0) refuse(given(params, {"handshake_size"}), "a cluster without nic_handshake");
  read_burst(params);
  read_connections(params);
  nic_per_gpu =
      choose(params, params.get("nic", "node", "node: the GPUs of a node share one NIC; gpu: each has its own"), "nic",
             "node", "gpu");
  node_data_sheet =
      params.get("node_bandwidth", "150GB/s", Unit::bytes_per_second, "of a GPU inside its node, one way", rates);
  node_bandwidth =
      node_data_sheet * params.get("node_efficiency", 1.0,
                                   "share of node_bandwidth that payload can use: 0.76 to 0.82 of NVLink's "
                                   "data sheet as measured",
                                   {1e-6, 1});
  node_latency = params.get("node_latency", "3us", Unit::seconds, "of a message inside a node, end to end");
  given_nic_keys_ =
      given(params, {"nic_bandwidth", "nics", "nic_striping", "nic_chunk", "mtu", "nic_efficiency", "nic_cap",
                     "nic_latency", "nic_handshake", "handshake_size", "nic_window", "connection_cap", "connections",
                     "eager_size", "initial_window", "idle_restart", "nic_burst", "nic_line_rate", "nic"});
  given_node_keys_ = given(params, {"node_bandwidth", "node_efficiency", "node_latency"});
  if (platform.empty()) return;
  refuse(given_nic_keys_, "a platform file");
  refuse(given_node_keys_, "a platform file");
}

void Cluster::read_burst(Params& params) {
  nic_burst = params.get("nic_burst", "0", Unit::bytes,
                         "bytes that leave a NIC at nic_line_rate after it was idle, before a shaper holds it to "
                         "nic_bandwidth, at which it earns them again; 0: no shaper");
  nic_line_rate = params.get("nic_line_rate", "0", Unit::bytes_per_second, "of a NIC while nic_burst lasts, one way");
  if (nic_burst == 0) {
    if (nic_line_rate > 0) refuse(given(params, {"nic_line_rate"}), "a cluster without nic_burst");
    return;
  }
  require(nic_line_rate > nic_bandwidth, place_of(params, "nic_line_rate"), nic_line_rate,
          " bytes/s are not more than the ", nic_bandwidth, " bytes/s of a NIC that is shaped; give more");
}

// What others send, and what changes, would have to take and bring tokens too.
void Cluster::check_burst() const {
  const bool changing = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.quantity == Change::Quantity::nic_bandwidth;
  });
  require(nic_burst == 0 || (!fat_tree && background.empty() && !changing), owner_,
          ": 'nic_burst' knows NICs of one bandwidth around one switch, with nothing but what ranks send; leave out "
          "topology=fat_tree, 'background', outages of a NIC and changes of nic_bandwidth, or 'nic_burst'");
}

void Cluster::read_connections(Params& params) {
  connections.window = params.get(
      "nic_window", "0", Unit::bytes,
      "bytes that one connection between nodes has in flight, of all its messages, before it waits an acknowledgement, "
      "which takes twice nic_latency; 0: no limit");
  connections.cap = params.get("connection_cap", "0", Unit::bytes_per_second,
                               "most that one connection between nodes reaches; 0: no cap");
  connections.count =
      params.get("connections", 1,
                 "connections over which two ranks of different nodes spread a message; of influence where one is "
                 "limited, by nic_window, connection_cap or initial_window",
                 {1, 1024});
  connections.eager = params.get("eager_size", "0", Unit::bytes,
                                 "largest message between nodes that goes over one of several connections, in turn, "
                                 "and what a message that asks sends with its question; 0: all are spread, and a "
                                 "question is empty");
  if (connections.count == 1 && nic_handshake == 0)
    refuse(given(params, {"eager_size"}), "a cluster of one connection between two ranks, without nic_handshake");
  require(connections.window == 0 || connections.window >= 1, place_of(params, "nic_window"), connections.window,
          " bytes let nothing through; give at least 1B, or 0 for no limit");
  require(connections.cap == 0 || rates.contains(connections.cap), place_of(params, "connection_cap"), connections.cap,
          " bytes/s let no time pass; give at least 1bps, or 0 for no cap");
  connections.initial_window = params.get("initial_window", "0", Unit::bytes,
                                          "bytes that a connection between nodes has in flight at first and after "
                                          "idle_restart, and twice as many each round trip; 0: its window at once");
  connections.idle =
      params.get("idle_restart", "200ms", Unit::seconds, "idle for longer, a connection begins with initial_window");
  require(connections.initial_window == 0 || connections.initial_window >= 1, place_of(params, "initial_window"),
          connections.initial_window, " bytes let nothing through; give at least 1B, or 0 for none");
  require(connections.window == 0 || connections.initial_window <= connections.window,
          place_of(params, "initial_window"), connections.initial_window, " bytes are more than nic_window, which is ",
          connections.window, "; give fewer");
  if (!connections.starts_slowly()) refuse(given(params, {"idle_restart"}), "a cluster without initial_window");
}

void Cluster::read_host(Params& params) {
  message_overhead = params.get("message_overhead", "0", Unit::seconds,
                                "time of the sender's host for each message to another node, one after the other");
  call_overhead = params.get("call_overhead", "0", Unit::seconds,
                             "time of a rank's host for each collective, before its first message");
  step_overhead = params.get("step_overhead", "0", Unit::seconds, "time of a rank's host in each training step");
  given_host_keys_ = given(params, {"message_overhead"});
}

void Cluster::read_topology(Params& params) {
  fat_tree =
      choose(params,
             params.get("topology", "star", "star: one switch that never limits; fat_tree: leaf switches under a core"),
             "topology", "star", "fat_tree");
  leaf_nodes = params.get("leaf_nodes", 8, "fat_tree: nodes under one leaf switch", {1, most_nodes});
  oversubscription =
      params.get("oversubscription", 1.0,
                 "fat_tree: NIC bandwidth under a leaf over that of its uplinks, which act as one", {1e-6, 1e6});
  core_latency = params.get("core_latency", "0", Unit::seconds, "fat_tree: added to nic_latency between leaves");
  given_leaf_keys_ = given(params, {"leaf_nodes", "oversubscription", "core_latency"});
  if (!platform.empty()) refuse(given(params, {"topology"}), "a platform file");
  if (!fat_tree) refuse(given_leaf_keys_, "a star");
}

void Cluster::read_gpu(Params& params) {
  gpu_flops = params.get("gpu_flops", "15.7TFLOPS", Unit::flops, "peak of a GPU", rates);
  gpu_memory_bandwidth =
      params.get("gpu_memory_bandwidth", "900GB/s", Unit::bytes_per_second, "of a GPU's memory", rates);
  kernel_launch = params.get("kernel_launch", "5us", Unit::seconds, "time to start a kernel");
  compute_slowdown =
      params.get("compute_slowdown", 1.0,
                 "times as long as alone that kernels of a rank take while it is in a collective", {1, 1e3});
  if (!platform.empty()) refuse(given(params, {"compute_slowdown"}), "a platform file");
  given_gpu_keys_ = given(params, {"compute_slowdown"});
  codec_rates = located(place_of(params, "codec_rates"), [&] {
    return CodecRates(params.get("codec_rates", "",
                                 "speeds of codecs as measured: codec/step/call/element … with encode, decode, "
                                 "decode_add, as top_k/encode/80us/12ns; a fifth field has the elements of a call "
                                 "that it was measured on, as 64..2359296, and other sizes are refused; what is not "
                                 "named costs what its bytes do"));
  });
}

void Cluster::read_events(Params& params) {
  const auto read = [&](const char* key, const auto& parse, const char* description) {
    return located(place_of(params, key), [&] { return parse(params.get(key, "", description)); });
  };
  slow = read("slow", parse_slow, "ranks whose GPU takes longer: rank:factor …");
  given_changes_ =
      read("changes", parse_changes,
           "what changes from a time on: time/quantity/target/value … with nic_bandwidth, nic_latency of a node, "
           "node_bandwidth, node_latency, slow of a rank");
  outages_ = read("outages", parse_outages,
                  "what stops for a while and goes on as if nothing had been: length/part/target@time … with nic, node "
                  "(a node: its NICs and GPUs) or gpu (a rank)");
  faults =
      read("faults", parse_faults, "what fails at a time: time/part/target … with nic, node (a node) or gpu (a rank)");
  background =
      read("background", parse_background, "endless traffic of others between nodes: from>to or from>to/rate …");
  if (!platform.empty()) refuse_events_of_links(params);
  std::ranges::stable_sort(given_changes_, {}, &Change::time);
}

double Cluster::slowness(int rank) const {
  const auto found = std::ranges::find(slow, rank, &Slow::rank);
  return found == slow.end() ? 1 : found->factor;
}

std::vector<Change> Cluster::changes_with_outages() const {
  if (outages_.empty()) return given_changes_;
  const std::vector<int> nodes = nodes_of(default_ranks());
  const auto ranks_of = [&](int node) {
    const auto [first, last] = std::ranges::equal_range(nodes, node);
    std::vector<int> ranks(static_cast<std::size_t>(last - first));
    std::iota(ranks.begin(), ranks.end(), static_cast<int>(first - nodes.begin()));
    return ranks;
  };
  const auto initial = [&](const Change& change) {
    return change.quantity == Change::Quantity::slow ? slowness(change.target) : nic_bandwidth;
  };
  return with_outages(given_changes_, outages_, ranks_of, initial);
}

void Cluster::refuse_events_of_links(const Params& params) const {
  refuse(given(params, {"slow", "changes", "outages"}), "a platform file, which has speeds and profiles of its own");
  const bool nic = std::any_of(faults.begin(), faults.end(), [](const Fault& f) { return f.part == Fault::Part::nic; });
  require(!nic, owner_, ": 'faults' names a nic, which a platform file does not have; name a node or a gpu");
}

void Cluster::check_targets() const {
  if (!platform.empty()) return;
  const int nodes = static_cast<int>(gpus.size());
  const int ranks = default_ranks();
  const auto check = [&](int target, int bound, const char* what, const char* key) {
    require(target < bound, owner_, ": '", key, "' names ", what, " ", target, "; the cluster has ", bound,
            ", counted from 0");
  };
  for (const Slow& one : slow) check(one.rank, ranks, "rank", "slow");
  for (const Change& change : given_changes_) {
    const bool of_nic =
        change.quantity == Change::Quantity::nic_bandwidth || change.quantity == Change::Quantity::nic_latency;
    check(change.target, of_nic ? nodes : ranks, of_nic ? "node" : "rank", "changes");
  }
  const auto check_part = [&](Fault::Part part, int target, const char* key) {
    const bool of_rank = part == Fault::Part::gpu;
    check(target, of_rank ? ranks : nodes, of_rank ? "rank" : "node", key);
  };
  for (const Fault& fault : faults) check_part(fault.part, fault.target, "faults");
  for (const Outage& outage : outages_) check_part(outage.part, outage.target, "outages");
  for (const Background& flow : background) check(std::max(flow.from, flow.to), nodes, "node", "background");
}

int Cluster::ranks_on(std::size_t node) const { return ranks_per_node > 0 ? ranks_per_node : gpus[node]; }

int Cluster::default_ranks() const {
  if (!platform.empty()) return 0;
  int ranks = 0;
  for (std::size_t node = 0; node < gpus.size(); ++node) ranks += ranks_on(node);
  return ranks;
}

std::vector<int> Cluster::nodes_of(int ranks) const {
  require(ranks >= 1, "a run needs at least one rank, not " + std::to_string(ranks));
  std::vector<int> nodes;
  if (!platform.empty()) {
    for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / std::max(1, ranks_per_node));
    return nodes;
  }
  require(ranks <= default_ranks(), owner_, ": ", ranks, " ranks do not fit: there is room for ", default_ranks(),
          "; ask for fewer, or raise 'nodes' or 'gpus_per_node'");
  for (std::size_t node = 0; node < gpus.size(); ++node) {
    for (int i = 0; i < ranks_on(node) && static_cast<int>(nodes.size()) < ranks; ++i)
      nodes.push_back(static_cast<int>(node));
  }
  return nodes;
}

bool Cluster::alike_in_nodes() const {
  return platform.empty() && faults.empty() && std::none_of(changes.begin(), changes.end(), [](const Change& change) {
           return change.quantity == Change::Quantity::node_bandwidth ||
                  change.quantity == Change::Quantity::node_latency;
         });
}

bool Cluster::alike_between_nodes() const {
  return alike_in_nodes() && !fat_tree && background.empty() &&
         std::all_of(changes.begin(), changes.end(),
                     [](const Change& change) { return change.quantity == Change::Quantity::slow; });
}

Links Cluster::links() const {
  if (!platform.empty()) return {.nics = 0};
  int least = ranks_on(0);
  for (std::size_t node = 1; node < gpus.size(); ++node) least = std::min(least, ranks_on(node));
  return {node_data_sheet, nic_data_sheet, nic_per_gpu ? least : 1};
}

std::vector<std::string> Cluster::warnings(int ranks) const {
  std::vector<std::string> all;
  const std::vector<int> nodes = nodes_of(ranks);
  const int used = nodes.back() + 1;
  if (used == 1) {
    warn(all, given_nic_keys_, "all ranks are on one node");
    warn(all, given_host_keys_, "all ranks are on one node");
    warn(all, given_transfer_keys_, "all ranks are on one node");
  }
  if (ranks == 1) warn(all, given_gpu_keys_, "there is one rank");
  if (used == ranks) warn(all, given_node_keys_, "every node has one rank");
  if (fat_tree && used <= leaf_nodes) warn(all, given_leaf_keys_, "all nodes are under one leaf");
  const auto beyond = [&](int target, int bound, const std::string& key) {
    if (target >= bound)
      all.push_back("'" + key + "' names " + std::to_string(target) + ", which this run of " + std::to_string(ranks) +
                    " ranks does not use");
  };
  for (const Slow& one : slow) beyond(one.rank, ranks, "slow");
  for (const Change& change : given_changes_) {
    const bool of_nic =
        change.quantity == Change::Quantity::nic_bandwidth || change.quantity == Change::Quantity::nic_latency;
    beyond(change.target, of_nic ? used : ranks, "changes");
  }
  for (const Fault& fault : faults) beyond(fault.target, fault.part == Fault::Part::gpu ? ranks : used, "faults");
  for (const Outage& outage : outages_)
    beyond(outage.target, outage.part == Fault::Part::gpu ? ranks : used, "outages");
  for (const Background& flow : background) beyond(std::max(flow.from, flow.to), used, "background");
  return all;
}

}  // namespace trigram::sim
