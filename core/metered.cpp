// Counts rounds and bytes of every exchange, and of every collective that the inner communicator performs itself.
#include "core/metered.hpp"

#include <utility>

#include "core/all_reduce.hpp"
#include "core/disjoint.hpp"

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

class Metered final : public Communicator {
 public:
  Metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline)
      : inner_(std::move(inner)), meter_(meter), timeline_(timeline) {
    use_all_reduce(inner_->all_reduce_name());
  }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  Device& device() override { return inner_->device(); }
  bool performs(Collective collective) const override { return in_step().performs(collective); }

  std::unique_ptr<Communicator> split(int color, int key) override {
    return metered(in_step().split(color, key), meter_, timeline_);
  }

  using Communicator::exchange;
  void exchange(std::span<const Transfer> transfers) override {
    require_disjoint(transfers);
    const Cost cost = cost_of(transfers);
    if (cost.rounds == 0) return inner_->exchange(transfers);
    if (running_ == no_collective) inner_->device().charge_host(HostWork::call);
    meter_.add(cost);
    const Timeline::Scope wire(timeline_, Activity::wire, running_, cost.bytes);
    inner_->exchange(transfers);
  }

  void all_reduce(Buffer x, ReduceOp op) override {
    run(
        Collective::all_reduce,
        [&] {
          return all_reduce_named(all_reduce_name()).cost(size(), rank(), x.modelled_count(), size_of(x.dtype()));
        },
        [&](Communicator& inner) { inner.all_reduce(x, op); }, [&] { Communicator::all_reduce(x, op); });
  }

  void reduce_scatter(Buffer x, ReduceOp op) override {
    run(
        Collective::reduce_scatter,
        [&] { return reduce_scatter_cost(size(), rank(), x.modelled_count(), size_of(x.dtype())); },
        [&](Communicator& inner) { inner.reduce_scatter(x, op); }, [&] { Communicator::reduce_scatter(x, op); });
  }

  using Communicator::all_gather;
  void all_gather(Buffer x) override {
    run(
        Collective::all_gather, [&] { return all_gather_cost(size(), rank(), x.modelled_count(), size_of(x.dtype())); },
        [&](Communicator& inner) { inner.all_gather(x); }, [&] { Communicator::all_gather(x); });
  }

  void all_gather(std::span<const Buffer> parts) override {
    run(
        Collective::all_gather,
        [&] {
          return Cost{size() - 1, bytes_but(parts, (rank() + 1) % size())};
        },
        [&](Communicator& inner) { inner.all_gather(parts); }, [&] { Communicator::all_gather(parts); });
  }

  void all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive) override {
    run(
        Collective::all_to_all, [&] { return one_round(bytes_but(send, rank())); },
        [&](Communicator& inner) { inner.all_to_all(send, receive); },
        [&] { Communicator::all_to_all(send, receive); });
  }

  void broadcast(Buffer x, int root) override {
    run(
        Collective::broadcast, [&] { return broadcast_cost(size(), rank(), x.modelled_bytes(), root); },
        [&](Communicator& inner) { inner.broadcast(x, root); }, [&] { Communicator::broadcast(x, root); });
  }

  void reduce(Buffer x, ReduceOp op, int root) override {
    run(
        Collective::reduce, [&] { return reduce_cost(size(), rank(), x.modelled_bytes(), root); },
        [&](Communicator& inner) { inner.reduce(x, op, root); }, [&] { Communicator::reduce(x, op, root); });
  }

  void gather(Buffer part, std::span<const Buffer> parts, int root) override {
    run(
        Collective::gather, [&] { return one_round(rank() == root ? 0 : part.modelled_bytes()); },
        [&](Communicator& inner) { inner.gather(part, parts, root); },
        [&] { Communicator::gather(part, parts, root); });
  }

  void scatter(std::span<const Buffer> parts, Buffer part, int root) override {
    run(
        Collective::scatter, [&] { return one_round(rank() == root ? bytes_but(parts, root) : 0); },
        [&](Communicator& inner) { inner.scatter(parts, part, root); },
        [&] { Communicator::scatter(parts, part, root); });
  }

  void barrier() override {
    run(
        Collective::barrier, [&] { return barrier_cost(size(), rank()); }, [](Communicator& inner) { inner.barrier(); },
        [&] { Communicator::barrier(); });
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
    performed(inner);
  }

  /// The inner communicator, told which all-reduce this one was told to use.
  Communicator& in_step() const {
    if (inner_->all_reduce_name() != all_reduce_name()) inner_->use_all_reduce(all_reduce_name());
    return *inner_;
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
  const char* running_ = no_collective;
};

}  // namespace

std::unique_ptr<Communicator> metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline) {
  return std::make_unique<Metered>(std::move(inner), meter, timeline);
}

}  // namespace trigram
