// Messages between processes that no exchange expects: what RPC travels by.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "backends/process/lane_context.hpp"
#include "core/lane/communicator.hpp"

namespace trigram {

/// What comes first of every request, as integers of 64 bits.
struct Envelope {
  static constexpr std::int64_t leaving = -1;  ///< in place of a lane: its sender asks nothing more

  std::int64_t lane = leaving;
  std::int64_t subject = 0;
  std::int64_t dtype = 0, count = 0, modelled_count = 0;  ///< of the request's bytes
  std::int64_t reply_bytes = 0;

  /// Its bytes, as a message.
  Buffer bytes() { return {this, Shape::of(sizeof *this / sizeof lane, DType::i64)}; }
};

/// One message, whose ends match by its tag; several of one tag and pair match in their order.
struct Letter {
  Transfer transfer;
  std::int64_t tag;
};

/// One rank's end of the messages between all ranks, numbered as in the whole run.
class Mail {
 public:
  static constexpr std::int64_t envelope_tag = 0;

  virtual ~Mail() = default;
  /// From now on letters can be carried; `serves` says whether this rank will take envelopes, its own included.
  /// Collective.
  virtual void open(bool serves) = 0;
  /// Carries letters together and returns when all have ended. Several lanes may call at once. Throws BackendError,
  /// which begins with `operation`, when a peer fails or the lane's timeout passes, and the rank's first error when
  /// another lane has failed.
  virtual void carry(std::span<const Letter> letters, const LaneContext& lane, const std::string& operation) = 0;
  /// The next letter of `envelope_tag` that anybody has sent this rank, in order of arrival, with its sender. Waits at
  /// most `seconds` (0: forever) and then throws BackendError, which says that `operation` waited for `what`.
  virtual std::pair<int, Envelope> take(const LaneContext& lane, double seconds, const std::string& operation,
                                        const std::string& what) = 0;
};

}  // namespace trigram
