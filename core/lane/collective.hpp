// A collective call as a value, and the table of what each kind of collective takes, does and sends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/device/kernels.hpp"
#include "core/values/buffer.hpp"
#include "core/values/cost.hpp"

namespace trigram {

class Communicator;

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
inline constexpr int collective_count = 9;

/// "all_reduce", "reduce_scatter", …
const char* name_of(Collective collective);

/// The arguments of one collective call. It refers to buffers and spans of others, which outlive the call.
struct CollectiveCall {
  Collective collective = Collective::barrier;
  Buffer x = {};  ///< the vector; of gather and scatter, this rank's own part
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  /// One for each rank of the group: what all_gather takes in place of x, what all_to_all sends, and what gather
  /// receives and scatter sends on the root; empty elsewhere.
  std::span<const Buffer> parts = {};
  std::span<const Buffer> received = {};  ///< of all_to_all, one for each rank of the group
};

/// Callback for each message of a collective.
class MessageVisitor {
 public:
  /// `bytes` modelled bytes go to rank `peer` of the group.
  virtual void sent(int peer, std::int64_t bytes) = 0;

 protected:
  ~MessageVisitor() = default;
};

/// A row of the table of collectives. Code that treats all kinds alike reads it: metering, language bindings, and the
/// implementations by exchange.
struct CollectiveKind {
  const char* name;
  /// The buffers that such a call has.
  enum class Takes : std::uint8_t { nothing, vector, sent_and_received, own_and_all_on_root } takes;
  /// Performs the call by exchanges of `comm`, which meters them.
  void (*by_exchange)(Communicator& comm, const CollectiveCall& call);
  /// Rounds and bytes that `by_exchange` costs this rank.
  Cost (*cost)(const Communicator& comm, const CollectiveCall& call);
  /// Calls `visitor` with each message of `by_exchange`. A native implementation is counted as if it sent the same.
  void (*messages)(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor);
};

const CollectiveKind& kind_of(Collective collective);

}  // namespace trigram
