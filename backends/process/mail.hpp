// Point-to-point messages of RPC between processes, beside those of exchanges.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/process/lanes/lane_context.hpp"
#include "core/lane/communicator.hpp"

namespace trigram {

/// The header of a request, which is sent before its bytes, as integers of 64 bits.
struct Envelope {
  static constexpr std::int64_t leaving = -1;  ///< in place of a lane: its sender sends no more requests

  std::int64_t lane = leaving;
  std::int64_t subject = 0;
  std::int64_t dtype = 0, count = 0, modelled_count = 0;  ///< of the request's bytes
  std::int64_t reply_bytes = 0;

  /// This header as a buffer, to be sent.
  Buffer bytes() { return {this, Shape::of(sizeof *this / sizeof lane, DType::i64)}; }
};

/// A send or receive with a tag, as in MPI; several of one tag between the same two ranks match in their order.
struct TaggedMessage {
  Transfer transfer;
  std::int64_t tag;
};

/// One rank's end of the point-to-point messages between all ranks of the job.
class Mail {
 public:
  static constexpr std::int64_t envelope_tag = 0;

  virtual ~Mail() = default;
  /// Must be called before the other functions; `serves` says whether this rank will receive requests, its own
  /// included. Collective.
  virtual void open(bool serves) = 0;
  /// Sends and receives these messages together and returns when all are complete. Several lanes may call at once.
  /// Throws BackendError, which begins with `operation`, when a peer fails or the lane's timeout passes, and the rank's
  /// first error when another lane has failed.
  virtual void carry(std::span<const TaggedMessage> messages, const LaneContext& lane,
                     const std::string& operation) = 0;
  /// The same, but where the network can go on without ranks that are gone, it leaves them out: gives those, in
  /// ascending order, of which some message did not come or did not arrive. By default it leaves nobody out.
  virtual std::vector<int> carry_with_those_there(std::span<const TaggedMessage> messages, const LaneContext& lane,
                                                  const std::string& operation) {
    carry(messages, lane, operation);
    return {};
  }
  /// Receives the next request header from any rank (MPI_ANY_SOURCE), in order of arrival, and its sender; of a rank
  /// that is gone, and is left out, that it leaves. Waits at most `seconds` (0: forever) and then throws BackendError,
  /// which says that `operation` waited for `what`.
  virtual std::pair<int, Envelope> take(const LaneContext& lane, double seconds, const std::string& operation,
                                        const std::string& what) = 0;
};

}  // namespace trigram
