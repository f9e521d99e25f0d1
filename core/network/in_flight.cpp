#include "core/network/in_flight.hpp"

#include <algorithm>
#include <cmath>

namespace trigram {

double InFlight::send(double bytes, double begin, const Connections& connections, double round_trip, double wire) {
  const double all = connections.count * connections.window;
  const bool by_turns = connections.cap > 0;
  const double rate = by_turns ? connections.count * connections.cap : wire;
  double now = begin, left = bytes, waited = 0;
  forget_until(now);
  // Whole windows but the last two come round in a time that does not change.
  if (const double windows = std::floor(left / all) - 1; windows > 0) {
    waited = windows * (by_turns ? round_trip : std::max(0.0, round_trip - all / rate));
    const double passed = waited + windows * all / rate;
    delay(passed);
    now += passed;
    left -= windows * all;
  }
  while (true) {
    const double part = std::min(left, all - bytes_);
    if (part > 0) {
      const double end = now + part / rate;
      put(part, (by_turns ? end : now) + round_trip);
      left -= part;
      now = end;
    }
    if (left <= 0) break;
    waited += std::max(0.0, parts_.front().acknowledged - now);
    now = std::max(now, parts_.front().acknowledged);
    forget_until(now);
  }
  return by_turns || waited > 0 ? now - begin : 0;
}

void InFlight::delay(double seconds) {
  for (Part& part : parts_) part.acknowledged += seconds;
}

void InFlight::put(double bytes, double acknowledged) {
  parts_.push_back({bytes, acknowledged});
  bytes_ += bytes;
}

void InFlight::forget_until(double now) {
  while (!parts_.empty() && parts_.front().acknowledged <= now) take_back_oldest();
}

void InFlight::take_back_oldest() {
  bytes_ -= parts_.front().bytes;
  parts_.pop_front();
  if (parts_.empty()) bytes_ = 0;  // without what rounding has left
}

}  // namespace trigram
