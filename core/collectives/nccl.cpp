// NCCL's collectives as time sees them: the ring, tree or NVLink SHARP, and the protocol, that its tuning model chooses
// for a size, on the links of a simulated cluster; chains for broadcast and reduce.
#include <algorithm>

#include "core/collectives/nccl_model.hpp"
#include "core/collectives/nccl_trees.hpp"
#include "core/collectives/pipelined_ring.hpp"
#include "core/collectives/two_trees.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

namespace {

constexpr std::array algorithm_names{"tree", "ring", "nvls", "nvls_tree"};
constexpr std::array protocol_names{"ll", "ll128", "simple"};
constexpr std::array<std::string_view, 4> not_modelled{"pat", "collnet", "collnet_direct", "collnet_chain"};

/// One of `names`, or none for "auto".
template <std::size_t n>
int place_among(const std::array<const char*, n>& names, const std::string& text, const Params& params,
                const char* key) {
  if (text == "auto") return -1;
  const auto* found = std::find(names.begin(), names.end(), text);
  require(
      std::ranges::find(not_modelled, text) == not_modelled.end(), params.owner(), ": '", key, "' ", Quoted(text),
      " is an algorithm of NCCL that is not modelled: PAT is for one GPU a node, CollNet for switches between nodes "
      "that add; leave it to auto, or name tree, ring, nvls or nvls_tree");
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
        links_{
            .node_bandwidth = params.get("node_bandwidth", "0", Unit::bytes_per_second,
                                         "of a GPU inside its node, as its data sheet says; 0: the cluster's"),
            .nic_bandwidth = params.get("nic_bandwidth", "0", Unit::bytes_per_second, "of a NIC; 0: the cluster's"),
            .nics = params.get("nics", 0, "NICs of a node; 0: the cluster's", {0, 1024}),
            .channels = params.get("channels", 0,
                                   "as NCCL says when it starts, with NCCL_DEBUG=INFO: '24 coll channels'; 0: by its "
                                   "search on these links",
                                   {0, 64})} {
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
           ",nics=" + std::to_string(links_.nics > 0 ? links_.nics : links.nics) +
           (links_.channels > 0 ? ",channels=" + std::to_string(links_.channels) : "");
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
    const NcclParts parts{model.rails()};
    for (int part = 0; part < parts.count(); ++part) {
      const NcclDegree degree = nccl_degree_of(place, part, !switched);
      all.rounds += 2 * (degree.parents + (degree.children > 0 ? 1 : 0));
      all.bytes += (degree.parents + degree.children) * chunk_count(count, parts.count(), part) * element_bytes;
    }
    return all;
  }

  Pipeline pipeline(const Neighbourhood& where, Buffer x) const override { return flowing(where, x, Laps::two); }

  bool chooses(Collective collective) const override {
    return knows_links() &&
           (collective == Collective::reduce_scatter || collective == Collective::all_gather || has_root(collective));
  }
  Pipeline pipeline_of(Collective collective, const Neighbourhood& where, Buffer x, int root) const override {
    return has_root(collective) ? chained(collective, where, x, root) : flowing(where, x, Laps::one);
  }

  Cost cost_from(Collective collective, std::span<const int> node_of, int rank, int root, Buffer x) const override {
    if (collective == Collective::reduce) return rank == root ? Cost{} : Cost{1, x.modelled_bytes()};
    const RanksByNode nodes = ranks_by_node(node_of);
    const int rails = NcclModel(links_, static_cast<int>(node_of.size()), static_cast<int>(nodes.size())).rails();
    Cost cost{0, 0};
    for (int rail = 0; rail < rails; ++rail) {
      if (chain_from(root, order_of(nodes, rail)).back() == rank) continue;
      cost = {1, cost.bytes + x.chunk(rail, rails).modelled_bytes()};
    }
    return cost;
  }

  std::string choice(Collective collective, int ranks, int nodes, std::int64_t bytes) const override {
    if (ranks == 1 || !knows_links()) return {};
    const NcclModel model(links_, ranks, nodes, laps_of(collective));
    const NcclChoice chosen = choose(model, bytes);
    return std::string(algorithm_names[static_cast<std::size_t>(chosen.algorithm)]) + "/" +
           protocol_names[static_cast<std::size_t>(chosen.protocol)] + "/" +
           std::to_string(model.channels(chosen, bytes));
  }

  std::vector<Buffer> reduce_in_memory(const Neighbourhood& where, std::span<const Buffer> of_ranks,
                                       const Add& add) const override {
    const RanksByNode nodes = ranks_by_node(where.node_of);
    const NcclModel model(links_, static_cast<int>(of_ranks.size()), static_cast<int>(nodes.size()));
    if (choose(model, of_ranks.front().modelled_bytes()).algorithm != NcclAlgorithm::tree)
      return PipelinedRing::reduce_in_memory(where, of_ranks, add);
    const NcclParts parts{model.rails()};
    std::vector<Buffer> sums;
    for (int part = 0; part < parts.count(); ++part) {
      const int root = nodes.size() == 1 ? 0 : root_of(static_cast<int>(nodes.size()), NcclParts::tree(part));
      sums.push_back(sum_below(nodes, root, part, parts, of_ranks, add));
    }
    return sums;
  }

 private:
  static bool has_root(Collective collective) {
    return collective == Collective::broadcast || collective == Collective::reduce;
  }
  static Laps laps_of(Collective collective) {
    if (has_root(collective)) return Laps::chain;
    return collective == Collective::all_reduce ? Laps::two : Laps::one;
  }

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
    const RanksByNode nodes = ranks_by_node(where.node_of);
    const NcclModel model(links_, static_cast<int>(where.node_of.size()), static_cast<int>(nodes.size()), laps);
    const std::int64_t bytes = x.modelled_bytes();
    const NcclChoice choice = choose(model, bytes);
    const HopSeconds hop = hops(where, model, choice);
    Pipeline all = choice.algorithm == NcclAlgorithm::ring ? rings(nodes, model, laps, x, hop)
                                                           : trees(nodes, model, choice, x, hop);
    return as_chosen(where, model, choice, bytes, std::move(all));
  }

  /// A hop inside a node is NCCL's own, one between nodes the cluster's with what the protocol adds.
  static HopSeconds hops(const Neighbourhood& where, const NcclModel& model, NcclChoice choice) {
    return [&where, &model, choice](int from, int to) {
      if (same_node(where, from, to)) return model.hop_in_node(choice);
      const double message = where.hop(from, to);
      return message + model.hop_between_nodes(choice) + model.flush(choice, message);
    };
  }
  static bool same_node(const Neighbourhood& where, int from, int to) {
    return where.node_of[static_cast<std::size_t>(from)] == where.node_of[static_cast<std::size_t>(to)];
  }

  /// With what the protocol puts on the wire, and what neither links nor hops decide. NCCL's longer latencies of large
  /// rings hide behind bytes as others do.
  static Pipeline as_chosen(const Neighbourhood& where, const NcclModel& model, NcclChoice choice, std::int64_t bytes,
                            Pipeline all) {
    const double in_node = model.wire(choice), between = model.wire_between_nodes(choice);
    for (Pipeline::Stream& stream : all.streams)
      stream.wire = same_node(where, stream.from, stream.to) ? in_node : between;
    all.before = model.begin(choice);
    all.slices = model.slices(choice, bytes);
    const int loops = model.loops(choice, bytes);
    all.rounds *= loops;
    all.latency *= loops;
    all.latency = (all.before + all.latency) * model.plateau(choice, bytes) - all.before + model.filling(choice, bytes);
    all.least = static_cast<double>(bytes) / model.fastest(choice);
    return all;
  }

  /// A ring's ranks in order, from the one that begins.
  static std::vector<int> chain_from(int root, std::vector<int> order) {
    std::ranges::rotate(order, std::ranges::find(order, root));
    return order;
  }

  /// Each rail's part of the vector goes through all ranks of its ring, away from the root or to it.
  Pipeline chained(Collective collective, const Neighbourhood& where, Buffer x, int root) const {
    const RanksByNode nodes = ranks_by_node(where.node_of);
    const NcclModel model(links_, static_cast<int>(where.node_of.size()), static_cast<int>(nodes.size()), Laps::chain);
    const NcclChoice choice = choose(model, x.modelled_bytes());
    const HopSeconds hop = hops(where, model, choice);
    Pipeline all;
    for (int rail = 0; rail < model.rails(); ++rail) {
      std::vector<int> order = chain_from(root, order_of(nodes, rail));
      if (collective == Collective::reduce) std::ranges::reverse(order);
      double way = 0;
      for (std::size_t i = 1; i < order.size(); ++i) {
        all.streams.push_back({order[i - 1], order[i], x.chunk(rail, model.rails()).modelled_bytes()});
        way += hop(order[i - 1], order[i]);
      }
      all.latency = std::max(all.latency, way);
    }
    return as_chosen(where, model, choice, x.modelled_bytes(), std::move(all));
  }

  static Pipeline rings(const RanksByNode& nodes, const NcclModel& model, Laps laps, Buffer x, const HopSeconds& hop) {
    Pipeline all;
    for (int rail = 0; rail < model.rails(); ++rail)
      add_ring(order_of(nodes, rail), x.chunk(rail, model.rails()), laps, hop, all);
    return all;
  }

  static Pipeline trees(const RanksByNode& nodes, const NcclModel& model, NcclChoice choice, Buffer x,
                        const HopSeconds& hop) {
    const bool chains = choice.algorithm == NcclAlgorithm::tree;
    Pipeline all;
    if (!chains) add_switched(nodes, x, hop, all);
    add_nccl_trees(nodes, {model.rails()}, x, chains, hop, all);
    return all;
  }

  /// A node's switch adds what it takes from all GPUs for each part, and gives each sum to all: each GPU sends its
  /// vector and its sums, and receives as much. Copies into and out of what the switch sees take a round of chunks
  /// each.
  static void add_switched(const RanksByNode& nodes, Buffer x, const HopSeconds& hop, Pipeline& all) {
    for (const std::vector<int>& ranks : nodes) {
      const int n = static_cast<int>(ranks.size());
      for (int i = 0; i < n && n > 1; ++i) {
        const int from = ranks[static_cast<std::size_t>(i)], to = ranks[static_cast<std::size_t>((i + 1) % n)];
        all.streams.push_back({from, to, x.modelled_bytes() + x.chunk(i, n).modelled_bytes(), 2});
        all.latency = std::max(all.latency, 2 * hop(from, to));
      }
    }
  }

  static Buffer sum_below(const RanksByNode& nodes, int node, int part, NcclParts parts,
                          std::span<const Buffer> of_ranks, const Add& add) {
    const std::vector<int>& ranks = nodes[static_cast<std::size_t>(node)];
    const std::size_t n = ranks.size();
    const auto first = static_cast<std::size_t>(NcclParts::head(part, static_cast<int>(n)));
    const auto of_depth = [&](std::size_t depth) {
      return of_ranks[static_cast<std::size_t>(ranks[(first + depth) % n])].chunk(part, parts.count());
    };
    for (std::size_t depth = n - 1; depth > 0; --depth) add(of_depth(depth), of_depth(depth - 1));
    if (nodes.size() > 1) {
      for (const int child : branch_of(node, static_cast<int>(nodes.size()), NcclParts::tree(part)).children)
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
