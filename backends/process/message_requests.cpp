#include "backends/process/message_requests.hpp"

#include <utility>

#include "core/values/error.hpp"

namespace trigram {
namespace {

std::int64_t content_tag(std::int64_t lane) { return 1 + 2 * lane; }
std::int64_t reply_tag(std::int64_t lane) { return 2 + 2 * lane; }

TaggedMessage to(int peer, Buffer bytes, std::int64_t tag) { return {Transfer::send_to(peer, bytes), tag}; }
TaggedMessage from(int peer, Buffer bytes, std::int64_t tag) { return {Transfer::receive_from(peer, bytes), tag}; }

}  // namespace

/// A request on the serving lane.
class MessageRequests::Asked final : public Request {
 public:
  Asked(MessageRequests& requests, int from, const Envelope& envelope, OwnedBuffer bytes)
      : Request(from, static_cast<int>(envelope.subject), std::move(bytes)), requests_(requests), envelope_(envelope) {}

  /// Sent when the lane is here again, which then holds up nobody who waits for it to end its task.
  void reply(Buffer with) override {
    ensure(with.bytes() == envelope_.reply_bytes, "rank ", requests_.host_.rank(), " replies ", with.bytes(),
           " bytes where rank ", asker, " expects ", envelope_.reply_bytes,
           " bytes; both ends of a message must agree");
    Device& device = requests_.lanes_(requests_.serving_lane_).device;
    OwnedBuffer bytes = device.allocate_unfilled(with.shape());
    if (with.bytes() > 0) device.copy(with.as(DType::u8), bytes.view().as(DType::u8));
    const TaggedMessage message = to(asker, bytes.view(), reply_tag(envelope_.lane));
    requests_.replies_.push_back({message, std::move(bytes)});
  }

 private:
  MessageRequests& requests_;
  Envelope envelope_;
};

void MessageRequests::open(bool serves) {
  ensure(!std::exchange(opened_, true), "ranks can begin to ask once in a run");
  const std::vector<std::int64_t> told = host_.all_gather_number(serves ? 1 : 0);
  for (int rank = 0; rank < static_cast<int>(told.size()); ++rank) {
    if (told[static_cast<std::size_t>(rank)] != 0) serving_.insert(rank);
    if (serves) askers_.insert(rank);
  }
  mail_.open(serves);
}

/// What is sent and received to ask. Places for replies come first, so that no reply has to wait for one.
class MessageRequests::Questions {
 public:
  Questions(const MessageRequests& requests, int lane, std::span<const Ask> asks) {
    for (const Ask& one : asks) {
      ensure(requests.serving_.contains(one.peer), "rank ", requests.host_.rank(), " asks rank ", one.peer,
             ", which serves nobody");
      const Shape& shape = one.request.shape();
      envelopes_.push_back({lane, one.subject, static_cast<std::int64_t>(shape.dtype), shape.count,
                            shape.modelled_count, one.reply.bytes()});
      messages_.push_back(from(one.peer, one.reply, reply_tag(lane)));
    }
    for (std::size_t i = 0; i < asks.size(); ++i) {
      messages_.push_back(to(asks[i].peer, envelopes_[i].bytes(), Mail::envelope_tag));
      messages_.push_back(to(asks[i].peer, asks[i].request, content_tag(lane)));
    }
  }
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  std::span<const TaggedMessage> messages() const { return messages_; }

 private:
  std::vector<Envelope> envelopes_;
  std::vector<TaggedMessage> messages_;
};

void MessageRequests::ask(int lane, std::span<const Ask> asks) {
  const Questions questions(*this, lane, asks);
  const LaneContext& context = lanes_(lane);
  mail_.carry(questions.messages(), context, describe(context, "ask"));
}

std::vector<int> MessageRequests::ask_those_there(int lane, std::span<const Ask> asks) {
  const Questions questions(*this, lane, asks);
  const LaneContext& context = lanes_(lane);
  return mail_.carry_with_those_there(questions.messages(), context, describe(context, "ask"));
}

std::unique_ptr<Request> MessageRequests::next() {
  const LaneContext& context = lanes_(serving_lane_);
  send_replies();
  while (!askers_.empty()) {
    // While this rank trains, others may take their time; once it waits for them, one of them may have stopped.
    const auto [asker, envelope] =
        mail_.take(context, ending_ ? context.timeout : 0, describe(context, "serve"),
                   "a request of any rank that may still ask, as rank " + std::to_string(*askers_.begin()));
    if (envelope.lane == Envelope::leaving) {
      askers_.erase(asker);
      ending_ = ending_ || asker == host_.rank();
      continue;
    }
    OwnedBuffer content = context.device.allocate_unfilled(
        {envelope.count, static_cast<DType>(envelope.dtype), envelope.modelled_count, false});
    const TaggedMessage message = from(asker, content.view(), content_tag(envelope.lane));
    if (!mail_.carry_with_those_there(std::span(&message, 1), context, describe(context, "serve")).empty()) continue;
    return std::make_unique<Asked>(*this, asker, envelope, std::move(content));
  }
  return nullptr;
}

void MessageRequests::send_replies() {
  const LaneContext& context = lanes_(serving_lane_);
  std::vector<TaggedMessage> messages;
  for (const Reply& reply : replies_) messages.push_back(reply.message);
  if (!messages.empty()) mail_.carry_with_those_there(messages, context, describe(context, "serve"));
  replies_.clear();
}

void MessageRequests::leave() {
  const LaneContext& context = lanes_(0);
  Envelope goodbye;
  std::vector<TaggedMessage> messages;
  for (const int rank : serving_) messages.push_back(to(rank, goodbye.bytes(), Mail::envelope_tag));
  if (!messages.empty()) mail_.carry_with_those_there(messages, context, describe(context, "leave"));
}

void MessageRequests::exclusively(const std::function<void()>& function) {
  const std::lock_guard lock(guard_);
  function();
}

std::string MessageRequests::describe(const LaneContext& lane, const char* operation) const {
  const std::string doing = lane.device.timeline().doing();
  return lane.place(host_.rank()) + ": " + operation +
         (doing.empty() || doing == operation ? "" : " (in " + doing + ")");
}

}  // namespace trigram
