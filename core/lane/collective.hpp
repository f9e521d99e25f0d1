// A collective as a value: what one rank asks of its group, and the table of what each kind takes, does and sends.
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

/// What one rank asks of its group. It refers to buffers and spans of others, which outlive the call.
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

/// Hears to which rank of the group how many modelled bytes go.
class MessageVisitor {
 public:
  virtual void sent(int peer, std::int64_t bytes) = 0;

 protected:
  ~MessageVisitor() = default;
};

/// What everybody who handles calls without caring for their kind must know of a kind: metering, languages that name
/// collectives by a text, and the bodies on top of exchange.
struct CollectiveKind {
  const char* name;
  /// The buffers that such a call has.
  enum class Takes : std::uint8_t { nothing, vector, sent_and_received, own_and_all_on_root } takes;
  /// Performs the call by exchanges of `comm`, which meters them.
  void (*by_exchange)(Communicator& comm, const CollectiveCall& call);
  /// Rounds and bytes that `by_exchange` costs this rank.
  Cost (*cost)(const Communicator& comm, const CollectiveCall& call);
  /// Where those bytes go; a vendor's own way through the same collective is taken to be the same.
  void (*messages)(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor);
};

const CollectiveKind& kind_of(Collective collective);

}  // namespace trigram
