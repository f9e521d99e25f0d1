// Bytes between the ranks of a group: one primitive, and every collective on top of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/device/kernels.hpp"
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

/// The collectives, as names for metering, benchmarks and reports.
enum class Collective : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier
};

/// "all_reduce", "reduce_scatter", …
const char* name_of(Collective collective);

/// A group of ranks. A backend brings `exchange` and `split`; it may override what its vendor does better and
/// then says so in `performs`. A call orders work on its lane (GPU) or performs it (simulator, MPI): the host may
/// look at the bytes only after device().download or synchronize. One lane uses one communicator at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Where this rank stands among the nodes of the group, as what the backend performs itself sees it; as nobody's
  /// neighbour where it does not look.
  virtual Placement place() const { return {rank(), size(), rank(), size(), 0, 1}; }
  /// Where the buffers of this communicator live and are reduced.
  virtual Device& device() = 0;

  /// A batch of sends and receives that progress together. Sizes must agree between the two ends.
  /// Throws BackendError when a peer fails or the backend's timeout passes, UsageError for a peer out of range.
  virtual void exchange(std::span<const Transfer> transfers) = 0;
  void exchange(std::initializer_list<Transfer> transfers) { exchange(std::span(transfers.begin(), transfers.size())); }

  /// The group of the ranks that give the same color, ordered by (key, rank); collective, in `setup` only. It uses the
  /// parent's all-reduce: implementations call use_all_reduce(all_reduce_name()) on what they return.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;

  /// Whether this backend overrides the collective instead of using the body below.
  virtual bool performs(Collective) const { return false; }

  /// Of the last all-reduce that the backend performed itself, the bytes that this rank sent to other nodes; nothing
  /// where they go as those of a ring do.
  virtual std::optional<std::int64_t> sent_to_other_nodes() const { return std::nullopt; }

  /// x = op over all ranks, on every rank, by the run's all-reduce (ring unless named otherwise).
  virtual void all_reduce(Buffer x, ReduceOp op);
  /// x.chunk(rank, size) = op over all ranks; the other chunks are left undefined. Chunk i is added in the order
  /// of ranks i+1, …, i+n (mod n). Ring: n−1 rounds.
  virtual void reduce_scatter(Buffer x, ReduceOp op);
  /// Each rank brings x.chunk(rank, size) and gets all chunks. Ring: n−1 rounds.
  virtual void all_gather(Buffer x);
  /// The same with any sizes: parts[r] is rank r's part, parts[rank] is what this rank brings.
  virtual void all_gather(std::span<const Buffer> parts);
  /// send[r] goes to rank r's receive[rank]. One round, all messages posted together.
  virtual void all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive);
  /// x of root on every rank. Binomial tree.
  virtual void broadcast(Buffer x, int root);
  /// x on root = op over all ranks; on the others x is left undefined. Binomial tree.
  virtual void reduce(Buffer x, ReduceOp op, int root);
  /// parts[r] on root = part of rank r; `parts` is read on root only. One round.
  virtual void gather(Buffer part, std::span<const Buffer> parts, int root);
  /// part of rank r = parts[r] on root. One round.
  virtual void scatter(std::span<const Buffer> parts, Buffer part, int root);
  /// Nobody leaves before everybody has entered. Dissemination: ⌈log₂ n⌉ rounds of empty messages.
  virtual void barrier();

  /// The all-reduce that `all_reduce` uses: a name of AllReduces.
  const std::string& all_reduce_name() const { return all_reduce_name_; }
  void use_all_reduce(const std::string& name) { all_reduce_name_ = name; }

  /// Memory of at least that shape for the body of a collective, kept between calls. `exchange` and `all_to_all` use
  /// none, so that a body may keep what they send in it.
  Buffer scratch(const Shape& shape);

 private:
  std::string all_reduce_name_ = "ring";
  OwnedBuffer scratch_;
};

}  // namespace trigram
