// What limits messages between hosts, found from what they take.
#pragma once

#include <span>
#include <vector>

#include "experiments/measure/alpha_beta.hpp"
#include "experiments/measure/message_terms.hpp"

namespace trigram {

/// Of messages between hosts, the seconds of each size, and how one follows another.
struct TimedMessages {
  std::vector<TimedAmount> sizes;  ///< ascending
  std::vector<Train> trains;       ///< by size

  /// How far each size is off: predicted / measured − 1.
  std::vector<double> residuals(const MessageTerms& terms) const;
};

/// The mechanisms that are needed for what `pair` and `all` take, each added where it leaves at most 70 % of what those
/// before leave over of both, and less than chance would: a handshake of long messages, windows, bursts, two paths.
/// `pair` sends one message at a time, which finds connections idle and buckets full; `all` is sent by all hosts at
/// once, one message behind the other. `overhead` is part of each. Returns the terms of both, which differ in what
/// crowds and queues change: latency, bandwidth, handshake and window. Throws Error for a time that is not above 0.
struct FittedMessages {
  MessageTerms pair, all;
};
FittedMessages fit_messages(const TimedMessages& pair, const TimedMessages& all, double overhead);

/// `terms` with the latency, the bandwidth, and where there are such the handshake and the window that fit best.
MessageTerms fit_crowded(const MessageTerms& terms, const TimedMessages& messages);

}  // namespace trigram
