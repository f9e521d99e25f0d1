#include "meeting/heartbeat.hpp"

#include <chrono>

#include "processes/clock.hpp"

namespace trigram {
namespace {

constexpr const char* failure_key = "failure";

Bytes packed(const JobFailure& failure) { return bytes_of(std::to_string(failure.rank) + " " + failure.reason); }

JobFailure unpacked(const Bytes& bytes) {
  const std::string text = text_of(bytes);
  const std::size_t space = text.find(' ');
  return {std::atoi(text.c_str()), text.substr(space + 1)};
}

}  // namespace

Heartbeat::Heartbeat(std::unique_ptr<Store> store, int rank, int ranks, HeartbeatTimes times)
    : store_(std::move(store)),
      rank_(rank),
      ranks_(ranks),
      times_(times),
      neighbour_silent_since_(seconds_now()),
      thread_([this] { beat_until_stopped(); }) {}

Heartbeat::~Heartbeat() { stop(); }

void Heartbeat::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<JobFailure> Heartbeat::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Heartbeat::keep(const JobFailure& failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
}

void Heartbeat::publish(const JobFailure& failure) noexcept {
  try {
    store_->claim(failure_key, packed(failure));
    const std::optional<Bytes> first = store_->get(failure_key);
    keep(first ? unpacked(*first) : failure);
  } catch (const std::exception&) {
    keep(failure);
  }
}

void Heartbeat::beat_until_stopped() {
  while (!failure()) {
    try {
      look();
    } catch (const std::exception& error) {
      keep({0, "the ranks' meeting place is gone, and with it probably the process of rank 0: " +
                   std::string(error.what())});
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::duration<double>(times_.beat), [this] { return stopped_; })) return;
  }
}

void Heartbeat::look() {
  store_->put("beat/" + std::to_string(rank_), bytes_of(std::to_string(++beats_)));
  if (const std::optional<Bytes> found = store_->get(failure_key)) return keep(unpacked(*found));
  if (ranks_ > 1) watch_neighbour();
}

void Heartbeat::watch_neighbour() {
  const int neighbour = (rank_ + 1) % ranks_;
  const std::string name = std::to_string(neighbour);
  const Bytes sign = store_->get("beat/" + name).value_or(Bytes());
  const double now = seconds_now();
  // Whoever was held up itself has heard nothing of others meanwhile, and whoever has not come yet is not silent.
  const bool held_up = now - looked_at_ > times_.silence;
  const bool here = !sign.empty() || store_->get("hello/" + name).has_value();
  looked_at_ = now;
  if (held_up || !here || sign != neighbours_sign_) {
    neighbours_sign_ = sign;
    neighbour_silent_since_ = now;
  }
  if (now - neighbour_silent_since_ < times_.silence) return;
  if (store_->get("bye/" + name)) return;
  publish({neighbour, "its process has given no sign of life for " +
                          std::to_string(static_cast<int>(now - neighbour_silent_since_)) + " s"});
}

}  // namespace trigram
