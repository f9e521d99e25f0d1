#include "backends/gpu/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

constexpr std::size_t capacity = 2048;
constexpr std::size_t transfers_shown = 8;

std::string describe(const Transfer& transfer, const std::vector<int>& world_ranks) {
  const bool receives = transfer.direction == Transfer::Direction::receive;
  return std::string(receives ? "a receive" : "a send") + " of " + std::to_string(transfer.buffer.bytes()) + " bytes " +
         (receives ? "from" : "to") + " rank " +
         std::to_string(world_ranks.at(static_cast<std::size_t>(transfer.peer)));
}

}  // namespace

std::string Operation::description() const {
  return "rank " + std::to_string(by->rank) + ", " + by->lane + ", " + by->group + ": " + name +
         (transfers.empty() ? " of " + std::to_string(bytes) + " bytes" : "") + " number " + std::to_string(sequence) +
         (within.empty() || within == name ? "" : " (in " + within + ")");
}

std::string Operation::waits_for() const {
  if (transfers.empty()) return "the other " + std::to_string(by->world_ranks.size() - 1) + " ranks";
  std::string text;
  for (std::size_t i = 0; i < std::min(transfers_shown, transfers.size()); ++i) {
    text += (i == 0 ? "" : ", ") + describe(transfers[i], by->world_ranks);
  }
  if (transfers.size() > transfers_shown)
    text += " and " + std::to_string(transfers.size() - transfers_shown) + " more";
  return text;
}

void Recorder::begin(const std::shared_ptr<const Orderer>& by, const char* name, std::int64_t sequence,
                     std::int64_t bytes, std::span<const Transfer> transfers, std::string within) {
  constexpr std::chrono::microseconds nap{50};
  std::unique_lock lock(mutex_);
  for (forget_ended(); operations_.size() >= capacity; forget_ended()) {
    std::erase_if(operations_, [](const Operation& operation) { return operation.ended.passed(); });
    if (operations_.size() < capacity) break;
    lock.unlock();
    std::this_thread::sleep_for(nap);
    lock.lock();
  }
  Operation operation;
  operation.by = by;
  operation.name = name;
  operation.sequence = sequence;
  operation.bytes = bytes;
  operation.transfers.assign(transfers.begin(), transfers.end());
  operation.within = std::move(within);
  operation.begun = pool_.take();
  operation.ended = pool_.take();
  operation.begun.record(by->stream);
  operations_.push_back(std::move(operation));
  open_ = true;
}

void Recorder::end() {
  const std::lock_guard lock(mutex_);
  ensure(open_, "an operation ended that had not begun");
  operations_.back().ended.record(operations_.back().by->stream);
  open_ = false;
}

/// From the oldest on: what is behind a slow lane's stays until the ring is full.
void Recorder::forget_ended() {
  while (!operations_.empty() && !(open_ && operations_.size() == 1) && operations_.front().ended.passed()) {
    pool_.give_back(std::move(operations_.front().begun));
    pool_.give_back(std::move(operations_.front().ended));
    operations_.pop_front();
  }
}

std::optional<std::string> Recorder::stuck_for(double seconds, double now) {
  const std::lock_guard lock(mutex_);
  forget_ended();
  std::set<int> busy_lanes;
  for (Operation& operation : operations_) {
    const bool is_open = open_ && &operation == &operations_.back();
    if (busy_lanes.contains(operation.by->lane_index) || (!is_open && operation.ended.passed())) continue;
    busy_lanes.insert(operation.by->lane_index);
    if (operation.seen_running_at < 0 && (is_open || operation.begun.passed())) operation.seen_running_at = now;
    if (operation.seen_running_at < 0 || now - operation.seen_running_at < seconds) continue;
    return operation.description() + " has waited " +
           std::to_string(static_cast<int>(now - operation.seen_running_at)) + " s for: " + operation.waits_for();
  }
  return std::nullopt;
}

std::string Recorder::running_on(int lane_index) {
  const std::lock_guard lock(mutex_);
  for (const Operation& operation : operations_) {
    const bool is_open = open_ && &operation == &operations_.back();
    if (operation.by->lane_index == lane_index && (is_open || !operation.ended.passed()))
      return operation.description();
  }
  return {};
}

void Recorder::clear() {
  const std::lock_guard lock(mutex_);
  operations_.clear();
  open_ = false;
}

}  // namespace trigram::gpu
