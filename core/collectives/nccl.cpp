// NCCL's all-reduce as time sees it: the ring, tree or NVLink SHARP, and the protocol, that its tuning model chooses
// for a size, on the links of a simulated cluster.
#include <algorithm>

#include "core/collectives/nccl_model.hpp"
#include "core/collectives/pipelined_ring.hpp"
#include "core/collectives/two_trees.hpp"
#include "core/quoted.hpp"

namespace trigram {

namespace {

constexpr std::array algorithm_names{"tree", "ring", "nvls", "nvls_tree"};
constexpr std::array protocol_names{"ll", "ll128", "simple"};

/// One of `names`, or none for "auto".
template <std::size_t n>
int place_among(const std::array<const char*, n>& names, const std::string& text, const Params& params,
                const char* key) {
  if (text == "auto") return -1;
  const auto* found = std::find(names.begin(), names.end(), text);
  require(
      found != names.end(), params.owner(), ": '", key, "' is auto, ",
      [&] {
        std::string all;
        for (const char* name : names) all += (all.empty() ? "" : ", ") + std::string(name);
        return all;
      },
      ", not ", Quoted(text));
  return static_cast<int>(found - names.begin());
}

using Nodes = std::vector<std::vector<int>>;

/// Part p of the vector is that of rail p/2 and of one of its two trees: ranks of a node in a chain from the one of the
/// rail on, whose first is in the tree over nodes.
struct Parts {
  int rails;

  int count() const { return 2 * rails; }
  static int tree(int part) { return part % 2; }
  /// The place in its node of the one that the chain begins with.
  static int head(int part, int node_size) { return part / 2 % node_size; }
};

/// Whom a rank sends a part to, as how many children and parents.
struct Degree {
  int parents = 0, children = 0;
};
Degree degree_of(const Placement& place, int part, bool chains) {
  Degree degree;
  const int depth = (place.local_rank - Parts::head(part, place.node_size) + place.node_size) % place.node_size;
  if (chains) degree = {depth > 0 ? 1 : 0, depth + 1 < place.node_size ? 1 : 0};
  if (depth > 0 || place.nodes == 1) return degree;
  const Branch branch = branch_of(place.node, place.nodes, Parts::tree(part));
  degree.parents += branch.parent < 0 ? 0 : 1;
  degree.children += static_cast<int>(branch.children.size());
  return degree;
}

/// The streams of both trees over nodes, each its own as in NCCL, and of the chains inside nodes.
class TreeStreams {
 public:
  TreeStreams(const Nodes& nodes, Parts parts, Buffer x, bool chains) : nodes_(nodes) {
    for (int part = 0; part < parts.count(); ++part) bytes_.push_back(x.chunk(part, parts.count()).modelled_bytes());
    const int number = static_cast<int>(nodes.size());
    for (int node = 0; node < number; ++node) {
      if (chains) add_chains(nodes[static_cast<std::size_t>(node)]);
      for (int part = 0; number > 1 && part < parts.count(); ++part) {
        for (const int child : branch_of(node, number, Parts::tree(part)).children)
          add_both_ways(head(node, part), head(child, part), bytes_[static_cast<std::size_t>(part)], 1);
      }
    }
  }

  const std::vector<Pipeline::Stream>& all() const { return streams_; }

 private:
  int head(int node, int part) const {
    const std::vector<int>& ranks = nodes_[static_cast<std::size_t>(node)];
    return ranks[static_cast<std::size_t>(Parts::head(part, static_cast<int>(ranks.size())))];
  }
  void add_both_ways(int a, int b, std::int64_t bytes, int messages) {
    streams_.push_back({a, b, bytes, messages});
    streams_.push_back({b, a, bytes, messages});
  }
  /// From each rank to the next of its node go all parts but those whose chain begins there.
  void add_chains(const std::vector<int>& ranks) {
    const int n = static_cast<int>(ranks.size());
    for (int place = 0; place < n && n > 1; ++place) {
      const int next = (place + 1) % n;
      std::int64_t sum = 0;
      int messages = 0;
      for (int part = 0; part < static_cast<int>(bytes_.size()); ++part) {
        if (Parts::head(part, n) == next) continue;
        sum += bytes_[static_cast<std::size_t>(part)];
        ++messages;
      }
      if (messages == 0) continue;
      add_both_ways(ranks[static_cast<std::size_t>(place)], ranks[static_cast<std::size_t>(next)], sum, messages);
    }
  }

  const Nodes& nodes_;
  std::vector<std::int64_t> bytes_;  ///< by part
  std::vector<Pipeline::Stream> streams_;
};

/// The node with most neighbours in both trees, whose links carry most.
int busiest_of(int nodes) {
  std::size_t most = 0;
  int busiest = 0;
  for (int node = 0; node < nodes; ++node) {
    std::size_t neighbours = 0;
    for (const int tree : {0, 1}) {
      const Branch branch = branch_of(node, nodes, tree);
      neighbours += branch.children.size() + (branch.parent < 0 ? 0 : 1);
    }
    if (neighbours > most) busiest = node;
    most = std::max(most, neighbours);
  }
  return busiest;
}

using Hop = std::function<double(int, int)>;

/// From the first of a node's chain to its end, or to the end of the longest one below it.
double farthest(const Nodes& nodes, int node, int tree, const Hop& hop, bool chains) {
  const std::vector<int>& ranks = nodes[static_cast<std::size_t>(node)];
  double chain = 0, below = 0;
  for (std::size_t i = 1; chains && i < ranks.size(); ++i) chain += hop(ranks[i - 1], ranks[i]);
  if (nodes.size() > 1) {
    for (const int child : branch_of(node, static_cast<int>(nodes.size()), tree).children) {
      const int head = nodes[static_cast<std::size_t>(child)].front();
      below = std::max(below, hop(ranks.front(), head) + farthest(nodes, child, tree, hop, chains));
    }
  }
  return std::max(chain, below);
}

class Nccl final : public PipelinedRing {
 public:
  explicit Nccl(Params& params)
      : algorithm_(place_among(
            algorithm_names,
            params.get("algorithm", "auto", "tree, ring, nvls, nvls_tree; auto: what NCCL's model says is fastest"),
            params, "algorithm")),
        protocol_(place_among(protocol_names,
                              params.get("protocol", "auto", "ll, ll128, simple; auto: by the same model"), params,
                              "protocol")),
        links_{.node_bandwidth = params.get("node_bandwidth", "0", Unit::bytes_per_second,
                                            "of a GPU inside its node, as its data sheet says; 0: the cluster's"),
               .nic_bandwidth = params.get("nic_bandwidth", "0", Unit::bytes_per_second, "of a NIC; 0: the cluster's"),
               .nics = params.get("nics", 0, "NICs of a node; 0: the cluster's", {0, 1024})} {
    require(algorithm_ != at(NcclAlgorithm::nvls) || protocol_ < 0 || protocol_ == at(NcclProtocol::simple),
            params.owner(), ": nvls knows the protocol simple alone; leave 'protocol' out");
  }

  std::string library() const override { return "NCCL"; }

  std::string knowing(const Links& links) const override {
    const auto own_or = [](double own, double given) { return number_text(own > 0 ? own : given) + "B/s"; };
    std::string spec = "nccl:";
    if (algorithm_ >= 0)
      spec += std::string("algorithm=") + algorithm_names[static_cast<std::size_t>(algorithm_)] + ",";
    if (protocol_ >= 0) spec += std::string("protocol=") + protocol_names[static_cast<std::size_t>(protocol_)] + ",";
    return spec + "node_bandwidth=" + own_or(links_.node_bandwidth, links.node_bandwidth) +
           ",nic_bandwidth=" + own_or(links_.nic_bandwidth, links.nic_bandwidth) +
           ",nics=" + std::to_string(links_.nics > 0 ? links_.nics : links.nics);
  }

  Cost cost_at(const Placement& place, std::int64_t count, std::int64_t element_bytes) const override {
    if (place.ranks == 1 || !knows_links()) return cost(place.ranks, place.rank, count, element_bytes);
    const NcclModel model(links_, place.ranks, place.nodes);
    const NcclChoice choice = choose(model, count * element_bytes);
    if (choice.algorithm == NcclAlgorithm::ring) return cost(place.ranks, place.rank, count, element_bytes);
    const bool switched = choice.algorithm != NcclAlgorithm::tree;
    Cost all;
    if (switched && place.node_size > 1)
      all = {2, (count + chunk_count(count, place.node_size, place.local_rank)) * element_bytes};
    const Parts parts{model.rails()};
    for (int part = 0; part < parts.count(); ++part) {
      const Degree degree = degree_of(place, part, !switched);
      all.rounds += 2 * (degree.parents + (degree.children > 0 ? 1 : 0));
      all.bytes += (degree.parents + degree.children) * chunk_count(count, parts.count(), part) * element_bytes;
    }
    return all;
  }

  Pipeline pipeline(const Neighbourhood& where, Buffer x) const override { return flowing(where, x, Laps::two); }

  bool chooses(Collective collective) const override {
    return collective == Collective::reduce_scatter || collective == Collective::all_gather;
  }
  Pipeline pipeline_of(Collective, const Neighbourhood& where, Buffer x) const override {
    return flowing(where, x, Laps::one);
  }

  std::vector<Buffer> reduce_in_memory(const Neighbourhood& where, std::span<const Buffer> of_ranks,
                                       const Add& add) const override {
    const Nodes nodes = ranks_by_node(where.node_of);
    const NcclModel model(links_, static_cast<int>(of_ranks.size()), static_cast<int>(nodes.size()));
    if (choose(model, of_ranks.front().modelled_bytes()).algorithm != NcclAlgorithm::tree)
      return PipelinedRing::reduce_in_memory(where, of_ranks, add);
    const Parts parts{model.rails()};
    std::vector<Buffer> sums;
    for (int part = 0; part < parts.count(); ++part) {
      const int root = nodes.size() == 1 ? 0 : root_of(static_cast<int>(nodes.size()), Parts::tree(part));
      sums.push_back(sum_below(nodes, root, part, parts, of_ranks, add));
    }
    return sums;
  }

 private:
  template <class Enum>
  static constexpr int at(Enum value) {
    return static_cast<int>(value);
  }
  bool knows_links() const { return links_.node_bandwidth > 0 && links_.nic_bandwidth > 0 && links_.nics > 0; }

  /// What is left open is chosen; what NCCL does not consider too, where it is asked for.
  NcclChoice choose(const NcclModel& model, std::int64_t bytes) const {
    const int only = model.only_rings() ? at(NcclAlgorithm::ring) : algorithm_;
    if (only < 0 && protocol_ < 0) return model.choose(bytes);
    NcclChoice best;
    double least = -1;
    for (const NcclAlgorithm algorithm : nccl_algorithms) {
      for (const NcclProtocol protocol : nccl_protocols) {
        if ((only >= 0 && only != at(algorithm)) || (protocol_ >= 0 && protocol_ != at(protocol))) continue;
        const double time = model.seconds({algorithm, protocol}, bytes);
        if (least >= 0 && time >= least) continue;
        least = time;
        best = {algorithm, protocol};
      }
    }
    return best;
  }

  Pipeline flowing(const Neighbourhood& where, Buffer x, Laps laps) const {
    const Nodes nodes = ranks_by_node(where.node_of);
    const NcclModel model(links_, static_cast<int>(where.node_of.size()), static_cast<int>(nodes.size()), laps);
    const std::int64_t bytes = x.modelled_bytes();
    const NcclChoice choice = choose(model, bytes);
    const Hop hop = [&](int from, int to) {
      const bool same = where.node_of[static_cast<std::size_t>(from)] == where.node_of[static_cast<std::size_t>(to)];
      return where.hop(from, to) + (same ? model.hop_in_node(choice) : model.hop_between_nodes(choice));
    };
    Pipeline all = choice.algorithm == NcclAlgorithm::ring ? rings(nodes, model, laps, x, hop)
                                                           : trees(nodes, model, choice, x, hop);
    for (Pipeline::Stream& stream : all.streams) stream.wire = model.wire(choice, bytes);
    all.latency = (model.begin(choice) + all.latency) * model.plateau(choice, bytes) + model.filling(choice, bytes);
    all.least = static_cast<double>(bytes) / model.fastest(choice, bytes);
    return all;
  }

  static Pipeline rings(const Nodes& nodes, const NcclModel& model, Laps laps, Buffer x, const Hop& hop) {
    Pipeline all;
    for (int rail = 0; rail < model.rails(); ++rail)
      add_ring(order_of(nodes, rail), x.chunk(rail, model.rails()), laps, hop, all);
    return all;
  }

  static Pipeline trees(const Nodes& nodes, const NcclModel& model, NcclChoice choice, Buffer x, const Hop& hop) {
    const bool chains = choice.algorithm == NcclAlgorithm::tree;
    const int number = static_cast<int>(nodes.size());
    Pipeline all;
    if (!chains) add_switched(nodes, x, hop, all);
    const TreeStreams streams(nodes, {model.rails()}, x, chains);
    all.streams.insert(all.streams.end(), streams.all().begin(), streams.all().end());
    double longest = 0;
    for (const int tree : {0, 1}) {
      const int root = number == 1 ? 0 : root_of(number, tree);
      longest = std::max(longest, farthest(nodes, root, tree, hop, chains) +
                                      farthest(
                                          nodes, root, tree, [&](int a, int b) { return hop(b, a); }, chains));
    }
    all.latency += longest;
    all.busiest = busiest_of(number);
    return all;
  }

  /// A node's switch adds what it takes from all GPUs for each part, and gives each sum to all: each GPU sends its
  /// vector and its sums, and receives as much. Copies into and out of what the switch sees take a round of chunks
  /// each.
  static void add_switched(const Nodes& nodes, Buffer x, const Hop& hop, Pipeline& all) {
    for (const std::vector<int>& ranks : nodes) {
      const int n = static_cast<int>(ranks.size());
      for (int i = 0; i < n && n > 1; ++i) {
        const int from = ranks[static_cast<std::size_t>(i)], to = ranks[static_cast<std::size_t>((i + 1) % n)];
        all.streams.push_back({from, to, x.modelled_bytes() + x.chunk(i, n).modelled_bytes(), 2});
        all.latency = std::max(all.latency, 2 * hop(from, to));
      }
    }
  }

  static Buffer sum_below(const Nodes& nodes, int node, int part, Parts parts, std::span<const Buffer> of_ranks,
                          const Add& add) {
    const std::vector<int>& ranks = nodes[static_cast<std::size_t>(node)];
    const std::size_t n = ranks.size();
    const auto first = static_cast<std::size_t>(Parts::head(part, static_cast<int>(n)));
    const auto of_depth = [&](std::size_t depth) {
      return of_ranks[static_cast<std::size_t>(ranks[(first + depth) % n])].chunk(part, parts.count());
    };
    for (std::size_t depth = n - 1; depth > 0; --depth) add(of_depth(depth), of_depth(depth - 1));
    if (nodes.size() > 1) {
      for (const int child : branch_of(node, static_cast<int>(nodes.size()), Parts::tree(part)).children)
        add(sum_below(nodes, child, part, parts, of_ranks, add), of_depth(0));
    }
    return of_depth(0);
  }

  int algorithm_, protocol_;  ///< the only one; -1: all
  Links links_;
};

const AllReduces::Registration nccl(
    "nccl",
    {"what NCCL does: ring, tree or NVLink SHARP, by LL, LL128 or Simple, as its tuning model chooses for the size",
     "NVIDIA, NCCL 2.28, src/graph/tuning.cc; Hu et al., Demystifying NCCL, 2025, arXiv:2507.04786"},
    [](Params& params) { return std::make_unique<Nccl>(params); });

}  // namespace

}  // namespace trigram
