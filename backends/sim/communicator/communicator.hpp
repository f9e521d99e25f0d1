// Messages between simulated ranks: every one is a flow of SimGrid, or a collective is one flow a rank at most.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/sim/communicator/group.hpp"
#include "backends/sim/simulation.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/lane/communicator.hpp"

namespace trigram::sim {

/// One rank of a group. All-reduces that are pipelines are streams side by side. With `fluid`, ring all-reduce,
/// reduce-scatter, all-gather of equal parts and all-to-all, and inside a node broadcast and reduce, are sets of
/// concurrent flows with the volume and latency of all their rounds; their numbers are those of the rounds. Where the
/// group is symmetric, the flows of one node stand for those of all.
class SimCommunicator final : public Communicator {
 public:
  SimCommunicator(std::shared_ptr<Group> group, int rank, Device& device, bool fluid);

  int rank() const override { return rank_; }
  int size() const override { return group_->size(); }
  Placement place() const override;
  Device& device() override { return device_; }
  void exchange(std::span<const Transfer> transfers) override;
  std::vector<std::int64_t> everybodys(std::int64_t value) override;
  std::unique_ptr<Communicator> regroup(const GroupPart& part) override;

  bool performs(const CollectiveCall& call) override;
  void perform(const CollectiveCall& call) override;
  std::optional<std::int64_t> sent_to_other_nodes() const override;

 private:
  struct Posted {
    Transfer transfer;
    Channel* channel;
    std::int64_t number;         ///< among the messages of its channel
    simgrid::s4u::CommPtr comm;  ///< none to oneself
  };
  class Call;
  class Outstanding;

  void check(std::span<const Transfer> transfers) const;
  void post_all(std::span<const Transfer> transfers, Outstanding& outstanding);
  /// Each stands for `rounds` messages, one after the other.
  void start_together(std::span<const Transfer> transfers, Outstanding& outstanding, int rounds = 1);
  void post(const Transfer& transfer, Outstanding& outstanding, int rounds);
  /// Returns the message's number among those of its channel.
  std::int64_t match(Channel& channel, const Transfer& transfer);
  void deliver(Buffer from, Buffer to, int sender, int receiver) const;
  void finish(Posted& posted);
  std::vector<Transfer> in_window_order(std::span<const Transfer> transfers) const;
  void check_self_complete(std::span<const Transfer> transfers);

  /// Throws when a rank of the group is gone; then its vector lies where the others find it.
  void enter(Buffer x);
  /// Whether the call is a set of concurrent flows here.
  bool has_fluid_form(const CollectiveCall& call) const;
  void check_same_sizes() const;
  /// A collective of a ring: `move` has its numbers, `volume` says what a rank sends to the next.
  template <class Move, class Volume>
  void ring(const char* name, int rounds, const Volume& volume, const Move& move);
  /// Volume from this rank to the next, and the latency of the rounds beyond the first, then leave together.
  void ring_flow(std::int64_t sent, std::int64_t received, int rounds);
  void reduce_chunks(ReduceOp op);
  void gather_chunks();
  void deliver_all() const;
  void flows_to_nodes();
  void flows_to_ranks();

  void all_reduce(Buffer x, ReduceOp op);
  void reduce_scatter(Buffer x, ReduceOp op);
  void all_gather(Buffer x);
  void all_gather_parts(std::span<const Buffer> parts);
  void all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive);
  void broadcast(Buffer x, int root);
  void reduce(Buffer x, ReduceOp op, int root);
  void barrier();
  void all_reduce_pipelined(Buffer x, ReduceOp op);
  /// Whether the all-reduce's library chooses how that collective goes too.
  bool chosen(Collective collective) const;
  /// Such a collective, whose root is 0 where it has none: `move` has its numbers.
  void flow_as_chosen(Collective collective, Buffer x, int root, const std::function<void()>& move);
  void note_choice(const AllReduce& how, Collective collective, Buffer x) const;
  /// Calls `use` with where the group stands.
  template <class Use>
  auto in_neighbourhood(const Use& use) const;
  void add_in_memory(const AllReduce& how, ReduceOp op);
  void carry(const Pipeline& pipeline);
  static double arrival(const Pipeline& pipeline, double bytes);
  bool stands_for_all(const Pipeline& pipeline, const Pipeline::Stream& stream) const;

  /// A flow that stands for those of other ranks too.
  struct StandIn {
    int from, to;
    std::int64_t bytes;
    int together = 1;  ///< messages that it stands for, each to a rank of its own
  };
  Load load(const StandIn& flow, int rounds) const;
  /// Starts them together, and says of each when all its rounds have ended.
  void flow(const std::vector<StandIn>& flows, int rounds,
            const std::function<void(const StandIn&, double end)>& ended) const;
  /// What connections and NICs of the other nodes remember of the flows that this one stands for.
  void admit_others(const StandIn& flow, int rounds) const;
  /// The last rank to come to a meeting carries the flows, and what rounds beyond the first pay in latency.
  void carry(const std::vector<StandIn>& flows, int rounds) const;
  double end_of(const Load& load, const Flow& flow, double begin) const;
  std::vector<StandIn> ring_of_first_node(std::int64_t bytes) const;
  std::vector<StandIn> all_to_all_of_first_node() const;
  enum class Reach : std::uint8_t { own_node, other_nodes };
  /// Modelled bytes that `sender` brings to an all-to-all for others on its own node, or on all other nodes.
  std::int64_t bytes_between(int sender, Reach reach) const;
  /// A collective along a binomial tree: its root's link carries every round, in the direction of `flow`.
  template <class Move>
  void tree(const char* name, Buffer x, StandIn flow, const Move& move);
  /// What each rank waits for in the rounds of a barrier that all entered at once.
  std::vector<double> barrier_waits() const;

  std::shared_ptr<Group> group_;
  int rank_;
  Device& device_;
  bool fluid_;
  Simulation& simulation_;
  std::vector<Posted> posted_;
};

/// A collective or an exchange of this rank, from its begin to its end.
class SimCommunicator::Call {
 public:
  Call(const SimCommunicator& communicator, const char* operation, std::span<const Transfer> transfers = {})
      : on_gpu_(communicator.simulation_.gpu(communicator.group_->member(communicator.rank_))),
        blocked(communicator.simulation_,
                communicator.simulation_.station(communicator.group_->member(communicator.rank_),
                                                 communicator.group_->lane()),
                operation, *communicator.group_, transfers) {}

 private:
  Gpu::InCollective on_gpu_;

 public:
  Blocked blocked;
};

/// The ends of one exchange that have not ended yet. Unless the exchange becomes complete they are withdrawn: their
/// buffers may be gone when a peer comes to match them.
class SimCommunicator::Outstanding {
 public:
  Outstanding(SimCommunicator& communicator, Blocked& blocked)
      : communicator_(communicator), blocked_(blocked), posted_(communicator.posted_) {
    posted_.clear();
  }
  ~Outstanding() {
    if (!complete_) withdraw();
    posted_.clear();
  }
  Outstanding(const Outstanding&) = delete;
  Outstanding& operator=(const Outstanding&) = delete;

  Posted& add(const Posted& posted) { return posted_.emplace_back(posted); }
  std::size_t size() const { return posted_.size() - first_; }
  void finish_oldest();
  /// Everything has ended well.
  void complete() { complete_ = true; }

 private:
  void withdraw();

  SimCommunicator& communicator_;
  Blocked& blocked_;
  std::vector<Posted>& posted_;
  std::size_t first_ = 0;
  bool complete_ = false;
};

}  // namespace trigram::sim
