// Bytes between the ranks of a group: one primitive, and every collective on top of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/device/device.hpp"
#include "core/lane/collective.hpp"
#include "core/values/buffer.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// One message of an exchange. There are no tags: messages of a pair match in the order of their exchanges,
/// and within one exchange in the order given.
struct Transfer {
  enum class Direction : std::uint8_t { send, receive };
  Direction direction;
  int peer;
  Buffer buffer;

  static Transfer send_to(int peer, Buffer buffer) { return {Direction::send, peer, buffer}; }
  static Transfer receive_from(int peer, Buffer buffer) { return {Direction::receive, peer, buffer}; }
};

/// The group of a split that this rank is in.
struct GroupPart {
  std::vector<int> members;  ///< ranks of the group that is split, in the order of the new one
  int index = 0;             ///< its number among the new groups
};

class AllReduce;

/// A group of ranks. A backend implements `exchange` and `regroup`, and may perform collectives natively that its
/// vendor does better. A call enqueues work on its lane's stream (GPU), or returns when it is done (simulator, MPI):
/// the host may look at the bytes only after device().download or synchronize. One lane uses one communicator at a
/// time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// This rank among the nodes of the group, for the declared cost of an all-reduce that depends on them. Default: each
  /// rank on a node of its own.
  virtual Placement place() const { return {rank(), size(), rank(), size(), 0, 1}; }
  /// Where the buffers of this communicator live and are reduced.
  virtual Device& device() = 0;

  /// A batch of sends and receives that progress together. Sizes must agree between the two ends.
  /// Throws BackendError when a peer fails or the backend's timeout passes, UsageError for a peer out of range.
  virtual void exchange(std::span<const Transfer> transfers) = 0;
  void exchange(std::initializer_list<Transfer> transfers) { exchange(std::span(transfers.begin(), transfers.size())); }

  /// The same, but where the backend can go on without ranks that are gone, it leaves them out: gives those, in
  /// ascending order, of which some message did not come or did not arrive. What their receives hold then means
  /// nothing. By default it leaves nobody out.
  virtual std::vector<int> exchange_with_those_there(std::span<const Transfer> transfers) {
    exchange(transfers);
    return {};
  }

  /// Runs collectives on this lane. Where they fail since a rank is gone, and the backend can go on without it, gives
  /// false: no message reaches this rank or leaves it any more, so that all who wait for it learn of that. By default
  /// what fails throws.
  virtual bool with_all_there(const std::function<void()>& collectives) {
    collectives();
    return true;
  }

  /// Performs any of the collectives below: by exchanges (kind_of(…).by_exchange), unless the backend implements the
  /// call natively.
  virtual void perform(const CollectiveCall& call);
  /// Whether the backend implements this call natively (as NCCL does); the same on all ranks. Called before each
  /// collective, so that a backend may also record the call here.
  virtual bool performs(const CollectiveCall&) { return false; }
  /// Bytes that this rank sent to other nodes in the last native all-reduce. None: they are counted as for a ring.
  virtual std::optional<std::int64_t> sent_to_other_nodes() const { return std::nullopt; }

  /// x = op over all ranks, on every rank, by the run's all-reduce (ring unless another was chosen).
  void all_reduce(Buffer x, ReduceOp op) { perform({.collective = Collective::all_reduce, .x = x, .op = op}); }
  /// x.chunk(rank, size) = op over all ranks; the other chunks are left undefined. Chunk i is added in the order
  /// of ranks i+1, …, i+n (mod n). Ring: n−1 rounds.
  void reduce_scatter(Buffer x, ReduceOp op) { perform({.collective = Collective::reduce_scatter, .x = x, .op = op}); }
  /// Each rank contributes x.chunk(rank, size) and gets all chunks. Ring: n−1 rounds.
  void all_gather(Buffer x) { perform({.collective = Collective::all_gather, .x = x}); }
  /// The same with any sizes: parts[r] is rank r's part, parts[rank] is this rank's.
  void all_gather(std::span<const Buffer> parts) { perform({.collective = Collective::all_gather, .parts = parts}); }
  /// send[r] goes to rank r's receive[rank]. One round, all messages posted together.
  void all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive) {
    perform({.collective = Collective::all_to_all, .parts = send, .received = receive});
  }
  /// x of root on every rank. Binomial tree.
  void broadcast(Buffer x, int root) { perform({.collective = Collective::broadcast, .x = x, .root = root}); }
  /// x on root = op over all ranks; on the others x is left undefined. Binomial tree.
  void reduce(Buffer x, ReduceOp op, int root) {
    perform({.collective = Collective::reduce, .x = x, .op = op, .root = root});
  }
  /// parts[r] on root = part of rank r; `parts` is read on root only. One round.
  void gather(Buffer part, std::span<const Buffer> parts, int root) {
    perform({.collective = Collective::gather, .x = part, .root = root, .parts = parts});
  }
  /// part of rank r = parts[r] on root. One round.
  void scatter(std::span<const Buffer> parts, Buffer part, int root) {
    perform({.collective = Collective::scatter, .x = part, .root = root, .parts = parts});
  }
  /// Returns when all ranks have called it. Dissemination: ⌈log₂ n⌉ rounds of empty messages.
  void barrier() { perform({.collective = Collective::barrier}); }

  /// The group of the ranks that give the same color, ordered by (key, rank); collective, in `setup` only. It uses the
  /// parent's all-reduce.
  std::unique_ptr<Communicator> split(int color, int key);
  /// An all-gather of one number per rank, by rank, unmetered, for `split`.
  virtual std::vector<std::int64_t> all_gather_number(std::int64_t value);
  /// The same kind of communicator for one group of a split. Every rank calls it, for its own group.
  virtual std::unique_ptr<Communicator> regroup(const GroupPart& part) = 0;

  /// The algorithm of `all_reduce`: that of core/collectives whose name the run gave, or the ring.
  const AllReduce& all_reduce_algorithm() const;
  void use_all_reduce(const AllReduce& algorithm) { all_reduce_ = &algorithm; }

  /// Memory of at least that shape for the implementation of a collective, kept between calls. `exchange` and
  /// `all_to_all` use none, so that an implementation may keep there what they send.
  Buffer scratch(const Shape& shape);

 private:
  const AllReduce* all_reduce_ = nullptr;  ///< none: the ring
  OwnedBuffer scratch_;
};

}  // namespace trigram
