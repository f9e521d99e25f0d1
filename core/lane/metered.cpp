// Counts rounds and bytes of every exchange, and of every collective that the inner communicator performs itself.
#include "core/lane/metered.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/lane/all_reduce.hpp"
#include "core/lane/disjoint.hpp"

namespace trigram {

void Meter::add(const Cost& cost) {
  rounds_.fetch_add(cost.rounds, std::memory_order_relaxed);
  bytes_.fetch_add(cost.bytes, std::memory_order_relaxed);
}

namespace {

/// Modelled bytes of all parts but one.
std::int64_t bytes_but(std::span<const Buffer> parts, int left_out) {
  std::int64_t bytes = 0;
  for (int r = 0; r < static_cast<int>(parts.size()); ++r) {
    if (r != left_out) bytes += parts[static_cast<std::size_t>(r)].modelled_bytes();
  }
  return bytes;
}

/// A number of each rank of the group, by rank.
std::vector<std::int64_t> of_all(Communicator& comm, std::int64_t own) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(comm.size()), own);
  const OwnedBuffer all = comm.device().allocate(Shape::of(comm.size(), DType::i64));
  comm.device().upload(std::as_bytes(std::span(numbers)), all);
  comm.all_gather(all);
  comm.device().download(all, std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

class Metered final : public Communicator {
 public:
  Metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline, NodeOf node_of)
      : inner_(std::move(inner)), meter_(meter), timeline_(timeline), node_of_(std::move(node_of)) {
    own_node_ = node_of_(inner_->rank());
    use_all_reduce(inner_->all_reduce_name());
  }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  Placement place() const override { return inner_->place(); }
  Device& device() override { return inner_->device(); }
  bool performs(Collective collective) const override { return in_step().performs(collective); }

  std::unique_ptr<Communicator> split(int color, int key) override {
    std::unique_ptr<Communicator> part = in_step().split(color, key);
    NodeOf node_of = [nodes = of_all(*part, own_node_)](int rank) {
      return static_cast<int>(nodes[static_cast<std::size_t>(rank)]);
    };
    return metered(std::move(part), meter_, timeline_, std::move(node_of));
  }

  using Communicator::exchange;
  void exchange(std::span<const Transfer> transfers) override {
    require_disjoint(transfers);
    const Cost cost = cost_of(transfers);
    if (cost.rounds == 0) return inner_->exchange(transfers);
    if (running_ == no_collective) inner_->device().charge_host(HostWork::call);
    meter_.add(cost);
    for (const Transfer& transfer : transfers) {
      if (transfer.direction == Transfer::Direction::send)
        count_leaving(transfer.peer, transfer.buffer.modelled_bytes());
    }
    const Timeline::Scope wire(timeline_, Activity::wire, running_, cost.bytes);
    inner_->exchange(transfers);
  }

  void all_reduce(Buffer x, ReduceOp op) override {
    run(
        Collective::all_reduce,
        [&] { return all_reduce_named(all_reduce_name()).cost_at(place(), x.modelled_count(), size_of(x.dtype())); },
        [&](Communicator& inner, Cost cost) {
          inner.all_reduce(x, op);
          as_inner_says(inner, cost);
        },
        [&] { Communicator::all_reduce(x, op); });
  }

  void reduce_scatter(Buffer x, ReduceOp op) override {
    run(
        Collective::reduce_scatter,
        [&] { return reduce_scatter_cost(size(), rank(), x.modelled_count(), size_of(x.dtype())); },
        [&](Communicator& inner, Cost cost) {
          inner.reduce_scatter(x, op);
          to_next(cost);
        },
        [&] { Communicator::reduce_scatter(x, op); });
  }

  using Communicator::all_gather;
  void all_gather(Buffer x) override {
    run(
        Collective::all_gather, [&] { return all_gather_cost(size(), rank(), x.modelled_count(), size_of(x.dtype())); },
        [&](Communicator& inner, Cost cost) {
          inner.all_gather(x);
          to_next(cost);
        },
        [&] { Communicator::all_gather(x); });
  }

  void all_gather(std::span<const Buffer> parts) override {
    run(
        Collective::all_gather,
        [&] {
          return Cost{size() - 1, bytes_but(parts, (rank() + 1) % size())};
        },
        [&](Communicator& inner, Cost cost) {
          inner.all_gather(parts);
          to_next(cost);
        },
        [&] { Communicator::all_gather(parts); });
  }

  void all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive) override {
    run(
        Collective::all_to_all, [&] { return one_round(bytes_but(send, rank())); },
        [&](Communicator& inner, Cost) {
          inner.all_to_all(send, receive);
          to_each(send);
        },
        [&] { Communicator::all_to_all(send, receive); });
  }

  void broadcast(Buffer x, int root) override {
    run(
        Collective::broadcast,
        [&] {
          return chosen(Collective::broadcast) ? chosen_cost(Collective::broadcast, x, root)
                                               : broadcast_cost(size(), rank(), x.modelled_bytes(), root);
        },
        [&](Communicator& inner, Cost cost) {
          inner.broadcast(x, root);
          if (chosen(Collective::broadcast)) return as_inner_says(inner, cost);
          for_children(root, [&](int child) { count_leaving(child, x.modelled_bytes()); });
        },
        [&] { Communicator::broadcast(x, root); });
  }

  void reduce(Buffer x, ReduceOp op, int root) override {
    run(
        Collective::reduce,
        [&] {
          return chosen(Collective::reduce) ? chosen_cost(Collective::reduce, x, root)
                                            : reduce_cost(size(), rank(), x.modelled_bytes(), root);
        },
        [&](Communicator& inner, Cost cost) {
          inner.reduce(x, op, root);
          if (chosen(Collective::reduce)) return as_inner_says(inner, cost);
          const int place = place_from(root);
          if (place != 0) count_leaving(rank_at(root, place & (place - 1)), x.modelled_bytes());
        },
        [&] { Communicator::reduce(x, op, root); });
  }

  void gather(Buffer part, std::span<const Buffer> parts, int root) override {
    run(
        Collective::gather, [&] { return one_round(rank() == root ? 0 : part.modelled_bytes()); },
        [&](Communicator& inner, Cost) {
          inner.gather(part, parts, root);
          count_leaving(root, part.modelled_bytes());
        },
        [&] { Communicator::gather(part, parts, root); });
  }

  void scatter(std::span<const Buffer> parts, Buffer part, int root) override {
    run(
        Collective::scatter, [&] { return one_round(rank() == root ? bytes_but(parts, root) : 0); },
        [&](Communicator& inner, Cost) {
          inner.scatter(parts, part, root);
          if (rank() == root) to_each(parts);
        },
        [&] { Communicator::scatter(parts, part, root); });
  }

  void barrier() override {
    run(
        Collective::barrier, [&] { return barrier_cost(size(), rank()); },
        [](Communicator& inner, Cost) { inner.barrier(); }, [&] { Communicator::barrier(); });
  }

 private:
  /// Names the exchanges of a collective in the timeline; the outermost collective wins.
  class Naming {
   public:
    Naming(const char*& running, const char* name) : running_(running), before_(running) {
      if (running_ == no_collective) running_ = name;
    }
    ~Naming() { running_ = before_; }
    Naming(const Naming&) = delete;
    Naming& operator=(const Naming&) = delete;

   private:
    const char*& running_;
    const char* before_;
  };

  static constexpr const char* no_collective = "exchange";

  /// Performed by the inner communicator, with its declared cost; or by the default body, whose exchanges count
  /// themselves.
  template <class DeclaredCost, class Performed, class DefaultBody>
  void run(Collective collective, DeclaredCost declared, Performed performed, DefaultBody default_body) {
    if (running_ == no_collective && size() > 1) inner_->device().charge_host(HostWork::call);
    const Naming naming(running_, name_of(collective));
    Communicator& inner = in_step();
    if (!inner.performs(collective)) return default_body();
    const Cost cost = declared();
    meter_.add(cost);
    const Timeline::Scope wire(timeline_, Activity::wire, running_, cost.bytes);
    performed(inner, cost);
  }

  /// The inner communicator, told which all-reduce this one was told to use.
  Communicator& in_step() const {
    if (inner_->all_reduce_name() != all_reduce_name()) inner_->use_all_reduce(all_reduce_name());
    return *inner_;
  }

  /// Counts what goes to a rank of the group, if it leaves the node.
  void count_leaving(int peer, std::int64_t bytes) {
    if (bytes > 0 && node_of_(peer) != own_node_) meter_.add_to_other_nodes(bytes);
  }
  void to_next(Cost cost) { count_leaving((rank() + 1) % size(), cost.bytes); }
  void to_each(std::span<const Buffer> parts) {
    for (int peer = 0; peer < size(); ++peer)
      count_leaving(peer, parts[static_cast<std::size_t>(peer)].modelled_bytes());
  }

  /// What the inner communicator knows to have left the node, or all that went to the next rank.
  void as_inner_says(const Communicator& inner, Cost cost) {
    const std::optional<std::int64_t> known = inner.sent_to_other_nodes();
    known ? meter_.add_to_other_nodes(std::min(*known, cost.bytes)) : to_next(cost);
  }

  /// Whether the library behind the all-reduce chooses how that collective goes too, and what this rank then sends.
  bool chosen(Collective collective) const {
    return size() > 1 && all_reduce_named(all_reduce_name()).chooses(collective);
  }
  Cost chosen_cost(Collective collective, Buffer x, int root) const {
    std::vector<int> nodes(static_cast<std::size_t>(size()));
    for (int peer = 0; peer < size(); ++peer) nodes[static_cast<std::size_t>(peer)] = node_of_(peer);
    return all_reduce_named(all_reduce_name()).cost_from(collective, nodes, rank(), root, x);
  }

  /// Places in the binomial tree of broadcast and reduce count from its root.
  int place_from(int root) const { return (rank() - root + size()) % size(); }
  int rank_at(int root, int place) const { return (root + place) % size(); }
  template <class Child>
  void for_children(int root, const Child& child) const {
    const int place = place_from(root);
    for (int bit = 1; place + bit < size() && (place & bit) == 0; bit *= 2) child(rank_at(root, place + bit));
  }

  Cost one_round(std::int64_t bytes) const { return {size() > 1 ? 1 : 0, bytes}; }

  /// One round if any message has another end than this rank, and the bytes sent to others.
  Cost cost_of(std::span<const Transfer> transfers) const {
    Cost cost;
    for (const Transfer& transfer : transfers) {
      if (transfer.peer == rank()) continue;
      cost.rounds = 1;
      if (transfer.direction == Transfer::Direction::send) cost.bytes += transfer.buffer.modelled_bytes();
    }
    return cost;
  }

  std::unique_ptr<Communicator> inner_;
  Meter& meter_;
  Timeline& timeline_;
  NodeOf node_of_;
  int own_node_ = 0;
  const char* running_ = no_collective;
};

}  // namespace

std::unique_ptr<Communicator> metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline,
                                      NodeOf node_of) {
  return std::make_unique<Metered>(std::move(inner), meter, timeline, std::move(node_of));
}

}  // namespace trigram
