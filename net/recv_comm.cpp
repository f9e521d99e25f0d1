#include "net/recv_comm.hpp"

#include <algorithm>

#include "net/log.hpp"

namespace trigram::net {
namespace {

constexpr std::uint64_t chunks_unacknowledged = 16;
constexpr std::uint64_t bytes_unacknowledged = 64 << 10;
constexpr int large_remembered = 32;  // receives after the last large message

bool is_large(std::size_t size) { return size > inline_bytes; }

}  // namespace

/// What comes on one stream.
class RecvComm::Arrivals final : public FrameReceiver {
 public:
  Arrivals(RecvComm& comm, Inlet& inlet) : comm_(comm), inlet_(inlet) {}

  std::byte* destination(const Frame& frame, bool& discarded) override {
    return comm_.inbox_.destination(frame, discarded);
  }

  void arrived(const Frame& frame) override {
    bool repeated = false;
    comm_.inbox_.destination(frame, repeated);
    if (repeated && frame.size > 0) ++inlet_.counters->repeated;
    comm_.inbox_.arrived(frame);
    ++inlet_.chunks;
    inlet_.bytes += frame.length;
    inlet_.counters->received_bytes += frame.length;
    ++inlet_.counters->chunks;
    if (frame.size <= inline_bytes) return;
    inlet_.is_due = true;
    comm_.large_expected_ = large_remembered;
  }

  bool control(const Frame& frame) override {
    if (frame.kind == FrameKind::bye) {
      comm_.peer_left_ = inlet_.is_due = true;
      return true;
    }
    if (frame.kind != FrameKind::request) return false;
    comm_.large_expected_ = large_remembered;
    if (comm_.inbox_.knows(frame.tag)) {
      inlet_.stream.add({.kind = FrameKind::credit, .tag = frame.tag, .index = comm_.inbox_.posted(frame.tag)});
    }
    return true;
  }

 private:
  RecvComm& comm_;
  Inlet& inlet_;
};

RecvComm::RecvComm(int streams, const Settings& settings, std::shared_ptr<void> keeps_alive)
    : settings_(settings),
      keeps_alive_(std::move(keeps_alive)),
      inlets_(static_cast<std::size_t>(streams)),
      last_open_(Clock::now()) {}

void RecvComm::adopt(int stream, Socket socket) {
  const Entry entry(*this);
  if (closed_ || failed()) return;
  auto& inlet = inlets_[static_cast<std::size_t>(stream)];
  socket.prepare(settings_.unsent, settings_.timeout);
  socket.hurry_within_host();
  inlet = Inlet();
  inlet.counters = &counters_of(socket.ends());
  ++inlet.counters->opened;
  inlet.stream.start(std::move(socket));
  last_open_ = Clock::now();
  // What was said on a stream that was lost may not have been heard.
  for (const auto& [tag, receives] : inbox_.tags()) {
    inlet.stream.add({.kind = FrameKind::credit, .tag = tag, .index = inbox_.posted(tag)});
  }
  inlet.stream.flush();
}

bool RecvComm::has_all_streams() {
  const Entry entry(*this);
  return std::all_of(inlets_.begin(), inlets_.end(), [](const Inlet& one) { return one.stream.open(); });
}

Request* RecvComm::irecv(int count, void* const* data, const std::size_t* sizes, const int* tags) {
  const Entry entry(*this);
  throw_if_failed();
  const bool looked_at = any_large_in_flight();
  Request* request = take_request(count, large_expected_ > 0 && std::any_of(sizes, sizes + count, is_large));
  if (!request) return nullptr;
  for (int i = 0; i < count; ++i) {
    if (!inbox_.post(request, i, static_cast<std::byte*>(data[i]), sizes[i], tags[i])) {
      throw Error(abi::Result::invalid_usage, "too many tags on one communicator");
    }
    // While only small messages come, nobody waits to hear of receives. Where others are under way, the next look at
    // the streams comes soon, and says so with its acknowledgement.
    if (is_large(sizes[i]) && large_expected_ > 0) {
      --large_expected_;
      give_credit(tags[i], !looked_at);
    }
  }
  if (!inbox_.problem().empty()) fail(abi::Result::invalid_usage, inbox_.problem());
  throw_if_failed();
  if (request->large) mover_sees_to_it();
  return request;
}

void RecvComm::give_credit(std::int32_t tag, bool at_once) {
  if (Inlet* inlet = answering()) {
    inlet->stream.add({.kind = FrameKind::credit, .tag = tag, .index = inbox_.posted(tag)});
    if (at_once) inlet->stream.flush();
  }
}

/// The stream that was heard last, or any.
RecvComm::Inlet* RecvComm::answering() {
  for (std::size_t i = 0; i < inlets_.size(); ++i) {
    auto& inlet = inlets_[(last_heard_ + i) % inlets_.size()];
    if (inlet.stream.open()) return &inlet;
  }
  return nullptr;
}

/// A stream on which nothing has come for a while is asked less often.
bool RecvComm::progress(Clock::time_point now) {
  constexpr unsigned quiet_passes = 64;
  bool any = false;
  ++passes_;
  for (std::size_t i = 0; i < inlets_.size() && !failed(); ++i) {
    auto& inlet = inlets_[i];
    if (!inlet.stream.open() || (inlet.quiet > quiet_passes && passes_ % 8 != i % 8)) continue;
    const auto before = inlet.stream.carried();
    read(inlet, now);
    if (inlet.stream.carried() != before) {
      any = true;
      last_heard_ = i;
      inlet.quiet = 0;
    } else {
      ++inlet.quiet;
    }
  }
  return any;
}

void RecvComm::read(Inlet& inlet, Clock::time_point now) {
  Arrivals arrivals(*this, inlet);
  const Moved moved = inlet.stream.read(arrivals, 1 << 20);
  if (!inbox_.problem().empty()) return fail(abi::Result::remote_error, inbox_.problem());
  if (moved == Moved::some || moved == Moved::nothing_yet) return acknowledge(inlet, false);
  lose(inlet, now, moved);
}

void RecvComm::acknowledge(Inlet& inlet, bool whatever) {
  const auto chunks = inlet.chunks - inlet.acknowledged;
  if (chunks > 0 &&
      (whatever || inlet.is_due || chunks >= chunks_unacknowledged || inlet.bytes >= bytes_unacknowledged)) {
    inlet.stream.add({.kind = FrameKind::acknowledge, .index = inlet.chunks});
    inlet.acknowledged = inlet.chunks;
    inlet.bytes = 0;
  }
  inlet.is_due = false;
  inlet.stream.flush();
}

void RecvComm::lose(Inlet& inlet, Clock::time_point now, Moved how) {
  if (how == Moved::malformed) warn("dropped a stream: what came there is no frame of ours");
  timed_out_ = how == Moved::timed_out;
  inlet.stream.stop();
  if (!peer_left_) ++inlet.counters->lost;
  last_open_ = now;
  // What was said there may not have been heard.
  for (const auto& [tag, receives] : inbox_.tags()) give_credit(tag, true);
}

void RecvComm::fail_if_alone(Clock::time_point now) {
  if (std::any_of(inlets_.begin(), inlets_.end(), [](const Inlet& one) { return one.stream.open(); })) return;
  const double patience = timed_out_ ? settings_.timeout : 1;
  if (now - last_open_ < std::chrono::duration<double>(patience) || (peer_left_ && !requests_in_flight())) return;
  fail(abi::Result::remote_error, peer_left_
                                      ? "the peer has closed its end while receives wait"
                                      : "the peer is lost: all of its connections have ended, and none comes back");
}

bool RecvComm::tick(Clock::time_point now) {
  const Entry entry(*this);
  if (closed_) return false;
  if (failed()) return true;
  progress(now);
  for (auto& inlet : inlets_) {
    if (inlet.stream.open()) acknowledge(inlet, true);
  }
  fail_if_alone(now);
  return true;
}

void RecvComm::close() {
  const Entry entry(*this);
  closed_ = true;
  for (auto& inlet : inlets_) {
    if (!inlet.stream.open()) continue;
    acknowledge(inlet, true);
    inlet.stream.add({.kind = FrameKind::bye});
    inlet.stream.flush();
    inlet.stream.stop();
  }
}

}  // namespace trigram::net
