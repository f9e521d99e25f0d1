#include "net/stream/outlet.hpp"

#include <algorithm>
#include <utility>

#include "net/log.hpp"

namespace trigram::net {

using namespace std::chrono_literals;

namespace {

double seconds_of(Clock::time_point time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

}  // namespace

bool Outlet::dial(Clock::time_point now) {
  if (open() || now < next_dial_) return false;
  if (!dial_) dial_.emplace(path_, hello_, answers_, now);
  const auto state = dial_->progress(now);
  if (state == Dial::State::going_on) return false;
  Socket socket = dial_->take();
  if (state == Dial::State::failed) reason_ = dial_->reason();
  refused_ = dial_->refused();
  dial_.reset();
  next_dial_ = now + pause_;
  pause_ = std::min<Clock::duration>(2 * pause_, 1s);
  if (state == Dial::State::ready) opened(std::move(socket), now);
  return open();
}

void Outlet::opened(Socket socket, Clock::time_point now) {
  counters = &counters_of(path_.from.name + " " + socket.ends());
  ++counters->opened;
  socket.prepare(settings_.unsent, settings_.timeout);
  socket.hurry_within_host();
  stream.start(std::move(socket));
  acknowledged_ = 0;
  moved_bytes_ = 0;
  rate_ = 0;
  backlog_ = {};
  unsent_ = UnsentLimit(settings_.unsent);
  last_moved_ = measured_ = now;
  pause_ = 100ms;
  measure(now, {});
}

void Outlet::lose(Clock::time_point now, const std::string& reason) {
  end(now, reason);
  ++counters->lost;
  info("lost " + name() + ": " + reason);
}

void Outlet::end(Clock::time_point now, const std::string& reason) {
  stream.stop();
  reason_ = reason;
  next_dial_ = now + pause_;
}

void Outlet::begin(Drawn drawn) {
  if (under_way.empty()) last_moved_ = drawn.at;
  const Frame frame = drawn.frame();
  stream.begin(frame, drawn.bytes());
  backlog_.add(static_cast<double>(frame.length), rate_, seconds_of(drawn.at));
  counters->sent_bytes += frame.length;
  ++counters->chunks;
  if (drawn.repeated) ++counters->repeated;
  under_way.push_back(std::move(drawn));
}

void Outlet::forget(const Message& message) {
  if (!stream.idle() && !under_way.empty() && under_way.back().message.get() == &message) stream.forget_bytes();
}

Drawn* Outlet::oldest_before(Clock::time_point time) {
  const auto old = std::find_if(under_way.begin(), under_way.end(),
                                [](const Drawn& one) { return !one.repeated && !one.has_arrived(); });
  return old != under_way.end() && old->at < time ? &*old : nullptr;
}

void Outlet::measure(Clock::time_point now, Clock::duration gap) {
  const Measured measured = stream.socket().measured();
  round_trip_us_ = counters->round_trip_us = measured.round_trip_us;
  rate_ = measured.rate.value_or(rate_);
  const std::uint64_t carried = measured.acknowledged - moved_bytes_;
  if (carried > 0) last_moved_ = now;
  if (now > measured_ && !under_way.empty() && unsent_.learn(carried, now - measured_, gap)) {
    stream.socket().limit_unsent(unsent_.bytes());
  }
  moved_bytes_ = measured.acknowledged;
  measured_ = now;
}

Way Outlet::way(Clock::time_point now) {
  const Measured measured = stream.socket().measured();
  if (measured.acknowledged > moved_bytes_) last_moved_ = now;
  const auto patience = 20ms + std::chrono::microseconds(2 * measured.round_trip_us);
  rate_ = measured.rate.value_or(rate_);
  const auto held = static_cast<double>(stream.unwritten() + stream.socket().unacknowledged());
  return {stalled(now, patience) ? 0 : rate_, measured.least_round_trip_us / 2e6,
          std::min(held, backlog_.left(rate_, seconds_of(now)))};
}

bool Outlet::stalled(Clock::time_point now, Clock::duration time) const {
  return open() && !under_way.empty() && now - last_moved_ > time;
}

void Outlet::delivered(Clock::duration took) {
  delivery_ = delivery_ == Clock::duration{} ? took : (7 * delivery_ + took) / 8;
}

}  // namespace trigram::net
