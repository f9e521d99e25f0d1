// The ways to all-reduce on top of exchange: each is one file in core/collectives, chosen by name.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/communicator.hpp"
#include "core/cost.hpp"
#include "core/placement.hpp"
#include "core/registry.hpp"

namespace trigram {

/// An all-reduce whose chunks follow each other without waiting for whole rounds, as a model of time sees it: all
/// streams flow at once, and what is pipelined away is paid once, by the chunk that goes the longest way.
struct Pipeline {
  /// All that one rank sends another.
  struct Stream {
    int from, to;
    std::int64_t bytes;
    int messages = 1;  ///< chunks that the sender's host posts
    double wire = 1;   ///< bytes that links carry for each of `bytes`, flags and what a protocol leaves idle among them
  };
  std::vector<Stream> streams;  ///< in the order of senders
  double latency = 0;           ///< seconds: the sum over the hops of the longest way
  bool alike = false;           ///< where nodes are alike and their ranks equal, each sends what the first one does
  int busiest = -1;             ///< there, what begins or ends on this node takes as long as all; none: not known
  double least = 0;             ///< seconds that the bytes take however fast links are
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
  int nics = 1;  ///< of a node
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

  /// Whether chunks follow each other, so that a model of time may ask for the two below.
  virtual bool pipelined() const { return false; }
  /// Of a group of two ranks or more, for vectors like x.
  virtual Pipeline pipeline(const Neighbourhood&, Buffer /*x*/) const { return {}; }
  /// Whether the same library chooses that collective too, which is then a pipeline of `pipeline_of`.
  virtual bool chooses(Collective) const { return false; }
  virtual Pipeline pipeline_of(Collective, const Neighbourhood&, Buffer /*x*/) const { return {}; }
  /// What `run` adds, in its order, where one memory holds the vectors of all ranks: `add(from, to)` is to = to ∘ from.
  /// The parts of the result, one behind the other, where they were added up.
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
