// The ways to all-reduce on top of exchange: each is one file in core/collectives, chosen by name.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/lane/communicator.hpp"
#include "core/registry/registry.hpp"
#include "core/values/cost.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// A collective whose chunks follow each other without waiting for whole rounds, as a model of time sees it: all
/// streams flow at once, for B seconds.
///
/// In a tree or a chain the last byte leaves its source when all others have, and then goes the longest way: B + L. In
/// a ring every rank has a chunk to send from the beginning and sends on what has come meanwhile, so that the way of
/// one chunk hides behind the bytes of others, or they behind it. With chunks that are sent on in S slices, a round
/// lasts as long as a chunk or as a slice and its hop: max(B + hop, L + B / S + (1 - 1 / S) B / rounds). Chunks that
/// are sent on whole, S = 1, take B + L.
struct Pipeline {
  /// All that one rank sends another.
  struct Stream {
    int from, to;
    std::int64_t bytes;
    int messages = 1;  ///< chunks that the sender's host posts
    double wire = 1;   ///< bytes that links carry for each of `bytes`, flags and what a protocol leaves idle among them
  };
  std::vector<Stream> streams;  ///< in the order of senders
  double latency = 0;           ///< L, seconds: the sum over the hops of the longest way
  double hop = 0;               ///< seconds of the longest single hop of a ring
  int rounds = 0;               ///< of a ring: chunks that each rank sends, one after another; 0: no ring
  double slices =
      std::numeric_limits<double>::infinity();  ///< S: parts of a ring's chunk, each sent on when it is there
  double before = 0;                            ///< seconds of the call itself, before the first byte
  bool alike = false;  ///< where nodes are alike and their ranks equal, each sends what the first one does
  int busiest = -1;    ///< there, what begins or ends on this node takes as long as all; none: not known
  double least = 0;    ///< seconds that the bytes take however fast links are
};

/// Where the ranks of a group stand, for who chooses a pipeline.
struct Neighbourhood {
  std::span<const int> node_of;                 ///< by rank of the group, the nodes counted from 0
  bool nic_per_rank = false;                    ///< else the ranks of a node share one
  std::function<double(int from, int to)> hop;  ///< seconds before the first byte of a message arrives
};

/// What data sheets say of a cluster's links, for a library that chooses by it. Bytes per second one way.
struct Links {
  double node_bandwidth = 0;  ///< of a GPU inside its node
  double nic_bandwidth = 0;
  int nics = 1;      ///< of a node
  int channels = 0;  ///< that the library uses, where it has said so; 0: not known
};

/// One all-reduce algorithm, without state.
class AllReduce {
 public:
  static constexpr const char* registry_kind = "all-reduce";
  virtual ~AllReduce() = default;
  /// x = op over the ranks of `comm`, for any group size and any count; bit-identical on every rank.
  virtual void run(Communicator& comm, Buffer x, ReduceOp op) const = 0;
  /// What `rank` of a group of `ranks` sends for `count` elements of `element_bytes`.
  virtual Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const = 0;
  /// The same where nodes decide too.
  virtual Cost cost_at(const Placement& place, std::int64_t count, std::int64_t element_bytes) const {
    return cost(place.ranks, place.rank, count, element_bytes);
  }

  /// The library whose choice this is, which backends without it refuse: "NCCL". Empty: anybody can run it.
  virtual std::string library() const { return {}; }
  /// The same as a spec that knows the links of a cluster; empty: it needs to know none.
  virtual std::string knowing(const Links&) const { return {}; }

  /// Whether its rounds are those of reduce_scatter and all_gather, which a model may time as one ring.
  virtual bool is_ring() const { return false; }
  /// Whether chunks follow each other, so that a model of time may ask for the two below.
  virtual bool pipelined() const { return false; }
  /// Of a group of two ranks or more, for vectors like x.
  virtual Pipeline pipeline(const Neighbourhood&, Buffer /*x*/) const { return {}; }
  /// Whether the same library chooses that collective too, which is then a pipeline of `pipeline_of`, from or to `root`
  /// where it has one.
  virtual bool chooses(Collective) const { return false; }
  virtual Pipeline pipeline_of(Collective, const Neighbourhood&, Buffer /*x*/, int /*root*/) const { return {}; }
  /// What `rank` then sends in a collective that has a root.
  virtual Cost cost_from(Collective, std::span<const int> /*node_of*/, int /*rank*/, int /*root*/, Buffer /*x*/) const {
    return {};
  }
  /// What the library takes for a vector of so many bytes on so many ranks of so many nodes: algorithm, protocol and
  /// channels, as "ring/simple/12"; empty: there is nothing to choose.
  virtual std::string choice(Collective, int /*ranks*/, int /*nodes*/, std::int64_t /*bytes*/) const { return {}; }
  /// What `run` adds, in its order, where one memory holds the vectors of all ranks: `add(from, to)` is to = to ∘ from.
  /// The parts of the result, back to back, where they were added up.
  using Add = std::function<void(Buffer from, Buffer to)>;
  virtual std::vector<Buffer> reduce_in_memory(const Neighbourhood&, std::span<const Buffer> /*of_ranks*/,
                                               const Add&) const {
    return {};
  }
};

using AllReduces = Registry<AllReduce>;

/// The all-reduce of that spec, made once and kept: cheap enough for every call. Throws UsageError for an unknown name
/// or parameter.
const AllReduce& all_reduce_named(const std::string& spec);

}  // namespace trigram
