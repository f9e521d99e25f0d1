#include "backends/torch/mail.hpp"

#include <cstring>
#include <set>

namespace trigram::torch {

TorchMail::~TorchMail() {
  for (std::thread& ear : ears_) ear.join();
}

void TorchMail::open(bool serves) {
  connections_.connect(lane_ + 1);
  for (int rank = 0; serves && rank < ranks_; ++rank) {
    if (rank != point_to_point_.rank()) ears_.emplace_back([this, rank] { hear(rank); });
  }
}

/// Until that rank leaves, or is gone. What it asks is received by whoever serves it.
void TorchMail::hear(int asker) {
  const auto operation = [this] { return "rank " + std::to_string(point_to_point_.rank()) + ": serve"; };
  try {
    Envelope envelope;
    do {
      const Message message = message_of(Transfer::receive_from(asker, envelope.bytes()), asker, envelope_tag);
      point_to_point_.carry(lane_, std::span(&message, 1), /*forever*/ 0,
                            {operation, [&](int) { return described(message); }});
      arrivals_.put({asker, envelope});
    } while (envelope.lane != Envelope::leaving);
  } catch (...) {
    if (!point_to_point_.leaves_out()) return arrivals_.fail(std::current_exception());
    arrivals_.put({asker, Envelope()});
  }
}

/// Messages to this rank itself have arrived by then: torch.distributed has no connection from a rank to itself, which
/// only says that it leaves.
std::vector<Message> TorchMail::to_others(std::span<const TaggedMessage> tagged) {
  std::vector<Message> messages;
  for (const auto& [transfer, tag] : tagged) {
    if (transfer.peer != point_to_point_.rank()) {
      messages.push_back(message_of(transfer, transfer.peer, tag));
      continue;
    }
    Envelope envelope;
    std::memcpy(&envelope, transfer.buffer.raw(), sizeof envelope);
    arrivals_.put({point_to_point_.rank(), envelope});
  }
  return messages;
}

void TorchMail::carry(std::span<const TaggedMessage> tagged, const LaneContext& lane, const std::string& operation) {
  const std::vector<Message> messages = to_others(tagged);
  if (messages.empty()) return;
  point_to_point_.carry(
      lane_, messages, lane.timeout,
      {[&] { return operation; }, [&](int place) { return described(messages[static_cast<std::size_t>(place)]); }});
}

std::vector<int> TorchMail::carry_with_those_there(std::span<const TaggedMessage> tagged, const LaneContext& lane,
                                                   const std::string& operation) {
  if (!point_to_point_.leaves_out()) return Mail::carry_with_those_there(tagged, lane, operation);
  const std::vector<Message> messages = to_others(tagged);
  if (messages.empty()) return {};
  std::set<int> gone;
  const Operation named{[&] { return operation; }, {}};
  for (const std::size_t place : point_to_point_.exchange_with_those_there(lane_, messages, lane.timeout, named))
    gone.insert(static_cast<int>(messages[place].peer));
  return {gone.begin(), gone.end()};
}

std::pair<int, Envelope> TorchMail::take(const LaneContext& /*lane*/, double seconds, const std::string& operation,
                                         const std::string& what) {
  return arrivals_.take(seconds, operation, what);
}

}  // namespace trigram::torch
