#include "backends/torch/requests.hpp"

#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/real_data.hpp"

namespace trigram::torch {
namespace {

constexpr std::int64_t envelope_tag = 0;
std::int64_t content_tag(std::int64_t lane) { return 1 + 2 * lane; }
std::int64_t reply_tag(std::int64_t lane) { return 2 + 2 * lane; }

Message sent(int to, std::int64_t tag, const void* address, std::int64_t bytes) {
  return {0, to, tag, bytes == 0 ? 0 : reinterpret_cast<std::uintptr_t>(address), bytes};
}

Message received(int from, std::int64_t tag, void* address, std::int64_t bytes) {
  return {1, from, tag, bytes == 0 ? 0 : reinterpret_cast<std::uintptr_t>(address), bytes};
}

}  // namespace

/// A request on the serving lane.
class TorchRequests::Asked final : public Request {
 public:
  Asked(TorchRequests& requests, const Arrivals::Arrival& arrival, OwnedBuffer bytes)
      : Request(arrival.from, static_cast<int>(arrival.envelope.subject), std::move(bytes)),
        requests_(requests),
        envelope_(arrival.envelope) {}

  /// Sent when the lane is here again, which then holds up nobody who waits for it to end its body.
  void reply(Buffer with) override {
    require_data(with, "torch");
    ensure(with.bytes() == envelope_.reply_bytes, "rank ", requests_.place_.carrier.rank(), " replies ", with.bytes(),
           " bytes where rank ", asker, " expects ", envelope_.reply_bytes,
           " bytes; both ends of a message must agree");
    const LaneContext& context = requests_.place_.context(requests_.place_.serving_lane);
    OwnedBuffer bytes = context.device.allocate_unfilled(with.shape());
    if (with.bytes() > 0) std::memcpy(bytes.view().raw(), with.raw(), static_cast<std::size_t>(with.bytes()));
    const Message message = sent(asker, reply_tag(envelope_.lane), bytes.view().raw(), with.bytes());
    requests_.replies_.push_back({message, std::move(bytes)});
  }

 private:
  TorchRequests& requests_;
  Envelope envelope_;
};

TorchRequests::~TorchRequests() {
  for (std::thread& ear : ears_) ear.join();
}

void TorchRequests::open(bool serves) {
  ensure(arrivals_ == nullptr, "ranks can begin to ask once in a run");
  serving_ = place_.connect(serves);
  std::set<int> askers;
  for (int rank = 0; serves && rank < place_.ranks; ++rank) {
    if (rank != place_.carrier.rank()) askers.insert(rank);
  }
  arrivals_ = std::make_unique<Arrivals>(askers);
  for (const int asker : askers) ears_.emplace_back([this, asker] { hear(asker); });
}

/// Until that rank leaves. What it asks is received by whoever serves it.
void TorchRequests::hear(int asker) {
  const auto operation = [this] { return "rank " + std::to_string(place_.carrier.rank()) + ": serve"; };
  try {
    while (true) {
      Envelope envelope;
      const Message message = received(asker, envelope_tag, &envelope, sizeof envelope);
      place_.carrier.carry(place_.line, std::span(&message, 1), /*forever*/ 0,
                           {operation, [&](int) { return described(message); }});
      if (envelope.lane == Envelope::leaving) return arrivals_->left(asker);
      arrivals_->put({asker, envelope});
    }
  } catch (...) {
    arrivals_->fail(std::current_exception());
  }
}

/// Places for replies come first, so that no reply has to wait for one.
void TorchRequests::ask(int lane, std::span<const Ask> asks) {
  const LaneContext& context = place_.context(lane);
  std::vector<Envelope> envelopes;
  for (const Ask& one : asks) {
    ensure(serving_.contains(one.peer), "rank ", place_.carrier.rank(), " asks rank ", one.peer,
           ", which serves nobody");
    require_data(one.request, "torch");
    require_data(one.reply, "torch");
    const Shape& shape = one.request.shape();
    envelopes.push_back({lane, one.subject, static_cast<std::int64_t>(shape.dtype), shape.count, shape.modelled_count,
                         one.reply.bytes()});
  }
  std::vector<Message> messages;
  for (const Ask& one : asks)
    messages.push_back(received(one.peer, reply_tag(lane), one.reply.raw(), one.reply.bytes()));
  for (std::size_t i = 0; i < asks.size(); ++i) {
    messages.push_back(sent(asks[i].peer, envelope_tag, &envelopes[i], sizeof(Envelope)));
    messages.push_back(sent(asks[i].peer, content_tag(lane), asks[i].request.raw(), asks[i].request.bytes()));
  }
  carry(messages, context, "ask");
}

std::unique_ptr<Request> TorchRequests::next() {
  const LaneContext& context = place_.context(place_.serving_lane);
  send_replies();
  const std::optional<Arrivals::Arrival> arrival = arrivals_->take(describe(context, "serve"));
  if (!arrival) return nullptr;
  const Envelope& envelope = arrival->envelope;
  OwnedBuffer content = context.device.allocate_unfilled(
      {envelope.count, static_cast<DType>(envelope.dtype), envelope.modelled_count, false});
  const Buffer view = content.view();
  const Message message = received(arrival->from, content_tag(envelope.lane), view.raw(), view.bytes());
  carry(std::span(&message, 1), context, "serve");
  return std::make_unique<Asked>(*this, *arrival, std::move(content));
}

void TorchRequests::send_replies() {
  const LaneContext& context = place_.context(place_.serving_lane);
  std::vector<Message> messages;
  for (const Reply& reply : replies_) messages.push_back(reply.message);
  if (!messages.empty()) carry(messages, context, "serve");
  replies_.clear();
}

/// While this rank trained, others could take their time; now that it waits for them, one of them may have stopped.
void TorchRequests::leave() {
  const LaneContext& context = place_.context(0);
  Envelope goodbye;
  std::vector<Message> messages;
  for (const int rank : serving_) {
    if (rank != place_.carrier.rank()) messages.push_back(sent(rank, envelope_tag, &goodbye, sizeof goodbye));
  }
  if (!messages.empty()) carry(messages, context, "leave");
  arrivals_->end_within(context.timeout);
}

void TorchRequests::exclusively(const std::function<void()>& body) {
  const std::lock_guard lock(guard_);
  body();
}

void TorchRequests::carry(std::span<const Message> messages, const LaneContext& context, const char* operation) {
  place_.carrier.carry(place_.line, messages, context.timeout,
                       {[&] { return describe(context, operation); },
                        [&](int place) { return described(messages[static_cast<std::size_t>(place)]); }});
}

std::string TorchRequests::describe(const LaneContext& lane, const char* operation) const {
  const std::string doing = lane.device.timeline().doing();
  return "rank " + std::to_string(place_.carrier.rank()) + ", " + lane.name + ": " + operation +
         (doing.empty() || doing == operation ? "" : " (in " + doing + ")");
}

}  // namespace trigram::torch
