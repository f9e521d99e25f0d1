#include "net/send_comm.hpp"

#include <algorithm>
#include <numeric>

#include "net/log.hpp"

namespace trigram::net {

using namespace std::chrono_literals;

/// What comes back on a stream.
class SendComm::Replies final : public FrameReceiver {
 public:
  Replies(SendComm& comm, Outlet& outlet, Clock::time_point now) : comm_(comm), outlet_(outlet), now_(now) {}

  std::byte* destination(const Frame&, bool&) override { return nullptr; }  // no data comes this way
  void arrived(const Frame&) override {}

  bool control(const Frame& frame) override {
    switch (frame.kind) {
      case FrameKind::acknowledge:
        return outlet_.acknowledged(frame.index, now_, [this](const Drawn& drawn) { comm_.arrived(drawn); });
      case FrameKind::credit:
        return comm_.outbox_.credit(frame.tag, frame.index);
      case FrameKind::bye:
        comm_.peer_left_ = true;
        return true;
      default:
        return false;
    }
  }

 private:
  SendComm& comm_;
  Outlet& outlet_;
  Clock::time_point now_;
};

std::deque<Outlet> SendComm::outlets_to(const Handle& peer, const std::vector<Interface>& interfaces,
                                        const Settings& settings) {
  const auto paths = paths_to(interfaces, peer.addresses);
  Hello hello{peer.asks, random_token(), 0, 0};
  for (const auto& path : paths) hello.streams += streams_of(path, settings.streams);
  if (hello.streams == 0) {
    throw Error(abi::Result::system_error, "no interface here has an address of the family that the peer has");
  }
  hello.streams = std::min(hello.streams, max_streams);
  std::deque<Outlet> outlets;
  for (const auto& path : paths) {
    for (int i = 0; i < streams_of(path, settings.streams) && hello.stream < hello.streams; ++i, ++hello.stream) {
      outlets.emplace_back(path, hello, peer.answers, settings);
    }
  }
  return outlets;
}

SendComm::SendComm(const Handle& peer, const std::vector<Interface>& interfaces, const Settings& settings)
    : settings_(settings),
      outlets_(outlets_to(peer, interfaces, settings)),
      outbox_(settings.chunk, parts_over(paths_to(interfaces, peer.addresses), outlets_.size())),
      begun_(Clock::now()),
      last_open_(begun_),
      looked_(begun_) {
  for (auto& outlet : outlets_) fastest_first_.push_back(&outlet);
}

bool SendComm::connected() {
  const Entry entry(*this);
  const auto now = Clock::now();
  if (!failed()) dial(now);
  throw_if_failed();
  const auto open = std::count_if(outlets_.begin(), outlets_.end(), [](const Outlet& one) { return one.open(); });
  if (open == std::ssize(outlets_) || (open > 0 && now - begun_ > 500ms)) return true;
  if (now - begun_ > std::chrono::duration<double>(settings_.timeout)) {
    fail(abi::Result::remote_error, "no way to the peer has opened: " + reasons());
    throw_if_failed();
  }
  return false;
}

std::string SendComm::reasons() const {
  std::string text;
  for (const auto& outlet : outlets_) text += (text.empty() ? "" : "; ") + outlet.name() + ": " + outlet.reason();
  return text;
}

void SendComm::dial(Clock::time_point now) {
  for (auto& outlet : outlets_) outlet.dial(now);
}

Request* SendComm::isend(const void* data, std::size_t size, int tag) {
  const Entry entry(*this);
  throw_if_failed();
  if (peer_left_) throw Error(abi::Result::remote_error, "the peer has closed its end; nothing more can be sent to it");
  const auto now = Clock::now();
  const bool is_inline = size <= inline_bytes;
  if (is_inline && !outbox_.takes_inline()) progress(now);
  throw_if_failed();
  if (is_inline && !outbox_.takes_inline()) return nullptr;
  Request* request = take_request(1, !is_inline);
  if (!request) return nullptr;
  const auto* bytes = static_cast<const std::byte*>(data);
  if (is_inline) {
    outbox_.add_inline(bytes, size, tag);
    request->pending = 0;
    request->sizes[0] = static_cast<int>(size);
    write_all(now);
  } else {
    outbox_.carried_at(fastest_rate());
    outbox_.add(bytes, size, tag, request);
    if (!mover_sees_to_it()) progress(now);
  }
  return request;
}

bool SendComm::progress(Clock::time_point now) {
  const auto before = carried();
  for (auto* outlet : fastest_first_) {
    if (outlet->open()) read(*outlet, now);
  }
  write_all(now);
  return carried() != before;
}

std::uint64_t SendComm::carried() const {
  return std::accumulate(outlets_.begin(), outlets_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Outlet& one) { return sum + one.stream.carried(); });
}

void SendComm::looked(Clock::time_point now) {
  if (busy_) gap_ = std::max(gap_, now - looked_);
  looked_ = now;
  busy_ = !outbox_.empty();
}

void SendComm::write_all(Clock::time_point now) {
  looked(now);
  for (auto* outlet : fastest_first_) {
    if (outlet->open()) write(*outlet, now);
  }
  if (outbox_.waits_for()) ask_for_receive(now);
}

/// A call of `test` must not last: at most so many bytes each.
void SendComm::write(Outlet& outlet, Clock::time_point now) {
  constexpr std::uint64_t most_bytes = 2 << 20;
  for (const auto before = outlet.stream.carried(); outlet.stream.carried() - before < most_bytes;) {
    const Moved moved = outlet.stream.flush();
    if (moved == Moved::nothing_yet) return;
    if (moved != Moved::some) return lose(outlet, now, moved == Moved::closed ? "the peer hung up" : "it timed out");
    auto drawn = draw(outlet, now);
    if (!drawn) return;
    outlet.begin(std::move(*drawn));
  }
}

void SendComm::read(Outlet& outlet, Clock::time_point now) {
  Replies replies(*this, outlet, now);
  const Moved moved = outlet.stream.read(replies, 1 << 20);
  if (moved == Moved::some || moved == Moved::nothing_yet) return;
  if (moved == Moved::malformed) warn("dropped " + outlet.name() + ": what came back there is no frame of ours");
  lose(outlet, now, moved == Moved::timed_out ? "it timed out" : "the peer hung up");
}

std::optional<Drawn> SendComm::draw(Outlet& outlet, Clock::time_point now) {
  const auto takes = [&](std::uint64_t length, std::uint64_t queued) { return !leaves(outlet, length, queued, now); };
  if (auto drawn = outlets_.size() > 1 ? outbox_.draw(now, takes) : outbox_.draw(now)) return drawn;
  return repeat(outlet, now);
}

double SendComm::fastest_rate() const {
  double fastest = 0;
  for (const auto& outlet : outlets_) fastest = std::max(fastest, outlet.open() ? outlet.rate() : 0);
  return fastest;
}

/// One that has carried nothing for a second takes a chunk all the same: it may have become faster.
bool SendComm::leaves(Outlet& outlet, std::uint64_t length, std::uint64_t queued, Clock::time_point now) {
  const auto bytes = static_cast<double>(length);
  if (outlet.rate() * least_seconds >= bytes) return false;
  if (outlet.under_way.empty() && !outlet.moved_since(now - 1s)) return false;
  ways_.clear();
  std::size_t own = 0;
  for (auto& one : outlets_) {
    if (&one == &outlet) own = ways_.size();
    if (one.open()) ways_.push_back(one.way(now));
  }
  return trigram::net::leaves(ways_, own, bytes, static_cast<double>(queued));
}

/// Where nothing is left to draw, a stream that has nothing under way takes over what another one has had for long.
std::optional<Drawn> SendComm::repeat(const Outlet& idle, Clock::time_point now) {
  if (outlets_.size() == 1 || !idle.under_way.empty()) return std::nullopt;
  const auto patience = std::max<Clock::duration>(20ms, 2 * idle.delivery());
  for (auto& other : outlets_) {
    Drawn* old = &other == &idle ? nullptr : other.oldest_before(now - patience);
    if (!old) continue;
    old->repeated = true;
    Drawn again = *old;
    again.at = now;
    return again;
  }
  return std::nullopt;
}

void SendComm::arrived(const Drawn& drawn) {
  if (!outbox_.arrived(drawn)) return;
  for (auto& outlet : outlets_) outlet.forget(*drawn.message);
}

void SendComm::lose(Outlet& outlet, Clock::time_point now, const std::string& reason) {
  peer_left_ ? outlet.end(now, reason) : outlet.lose(now, reason);
  outbox_.take_back(outlet.under_way);
}

/// A path stalls where nothing moves on it while something moves on another; where nothing moves anywhere, the peer
/// rests.
void SendComm::lose_stalled(Clock::time_point now) {
  const bool any_moves =
      std::any_of(outlets_.begin(), outlets_.end(), [&](const Outlet& one) { return one.moved_since(now - 500ms); });
  for (auto& outlet : outlets_) {
    if (!any_moves || !outlet.stalled(now, 1s)) continue;
    ++outlet.counters->stalls;
    lose(outlet, now, "nothing has moved there for a second");
  }
}

/// Again and again, on one stream after the other, since the question or its answer may be lost with a stream.
void SendComm::ask_for_receive(Clock::time_point now) {
  const auto tag = outbox_.waits_for();
  if (!tag || now - asked_ < 200ms) return;
  for (std::size_t i = 0; i < outlets_.size(); ++i) {
    auto& outlet = *fastest_first_[asks_++ % outlets_.size()];
    if (!outlet.open()) continue;
    asked_ = now;
    outlet.stream.add({.kind = FrameKind::request, .tag = *tag});
    outlet.stream.flush();
    return;
  }
}

bool SendComm::tick(Clock::time_point now) {
  const Entry entry(*this);
  if (failed()) return !closed_;
  for (auto& outlet : outlets_) {
    if (outlet.open()) outlet.measure(now, std::max<Clock::duration>(gap_, 2ms));
  }
  gap_ = gap_ * 7 / 8;
  std::stable_sort(fastest_first_.begin(), fastest_first_.end(), [](const Outlet* one, const Outlet* other) {
    return one->round_trip_us() < other->round_trip_us();
  });
  dial(now);
  progress(now);
  lose_stalled(now);
  const bool any_open = std::any_of(outlets_.begin(), outlets_.end(), [](const Outlet& one) { return one.open(); });
  if (any_open) last_open_ = now;
  const bool was_open = last_open_ > begun_;
  const bool is_gone =
      peer_left_ || std::all_of(outlets_.begin(), outlets_.end(), [](const Outlet& one) { return one.refused(); });
  const auto patience = is_gone ? 1.0 : settings_.timeout;
  if (was_open && now - last_open_ > std::chrono::duration<double>(patience)) {
    if (!closed_ && (!peer_left_ || requests_in_flight()))
      fail(abi::Result::remote_error, "the peer is lost: " + reasons());
    return !closed_;
  }
  return !is_over(now);
}

void SendComm::close() {
  const Entry entry(*this);
  closed_ = Clock::now();
  for (auto& outlet : outlets_) {
    if (outlet.open() && requests_in_flight()) lose(outlet, *closed_, "closed with messages in flight");
  }
  say_bye();
}

void SendComm::say_bye() {
  for (auto& outlet : outlets_) {
    if (!outlet.open()) continue;
    outlet.stream.add({.kind = FrameKind::bye});
    outlet.stream.flush();
  }
}

/// Small messages that nobody waits for are still delivered, for some seconds.
bool SendComm::is_over(Clock::time_point now) const {
  if (!closed_) return false;
  const bool any_open = std::any_of(outlets_.begin(), outlets_.end(), [](const Outlet& one) { return one.open(); });
  return (outbox_.empty() && now - *closed_ > 100ms) || !any_open || requests_in_flight() || now - *closed_ > 5s;
}

}  // namespace trigram::net
