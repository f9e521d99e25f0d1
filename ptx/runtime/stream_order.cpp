#include "ptx/runtime/stream_order.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "ptx/runtime/state.hpp"

namespace cuda_on_host {
namespace {

struct Order {
  std::mutex mutex;  ///< guards what follows
  std::map<cudaStream_t, std::size_t> numbers;
  std::vector<std::size_t> free_numbers;
  std::vector<StreamClock> done;  ///< when the last work of each stream is
  StreamClock host;               ///< what it knows to be done
  std::int64_t pending = 0;       ///< work that was ordered and has not ended
};

Order& the_order() {
  static auto* const the = new Order;  // outlives every stream's thread
  return *the;
}

std::atomic<bool> follows = false;
thread_local const StreamWork* current = nullptr;

void join(StreamClock& clock, const StreamClock& other) {
  clock.resize(std::max(clock.size(), other.size()));
  for (std::size_t stream = 0; stream < other.size(); ++stream) clock[stream] = std::max(clock[stream], other[stream]);
}

/// A stream that comes after one that has ended takes its number, and counts on.
std::size_t number_of(Order& all, cudaStream_t stream) {
  if (const auto known = all.numbers.find(stream); known != all.numbers.end()) return known->second;
  std::size_t number = all.done.size();
  if (all.free_numbers.empty()) {
    all.done.emplace_back();
  } else {
    number = all.free_numbers.back();
    all.free_numbers.pop_back();
  }
  all.numbers[stream] = number;
  return number;
}

std::shared_ptr<const StreamWork> add_work(cudaStream_t stream) {
  const auto work = std::make_shared<StreamWork>();
  Order& all = the_order();
  const std::lock_guard lock(all.mutex);
  work->stream = number_of(all, stream);
  StreamClock& done = all.done[work->stream];
  join(done, all.host);
  done.resize(std::max(done.size(), work->stream + 1));
  work->before = done;
  work->number = ++done[work->stream];
  work->on = stream == nullptr ? "the default stream" : "stream " + std::to_string(stream->ordinal);
  if (stream == nullptr) join(all.host, done);  // it runs at once
  ++all.pending;
  return work;
}

void end_work() {
  const std::lock_guard lock(the_order().mutex);
  --the_order().pending;
}

}  // namespace

void follow_stream_order() { follows = true; }

std::function<void()> followed(cudaStream_t stream, std::function<void()> work) {
  if (!follows) return work;
  return [piece = add_work(stream), work = std::move(work)] {
    struct Current {
      const StreamWork* around = current;
      ~Current() {
        current = around;
        end_work();
      }
    } const restored;
    current = piece.get();
    work();
  };
}

const StreamWork* current_work() { return current; }

StreamClock clock_of(cudaStream_t stream) {
  if (!follows) return {};
  Order& all = the_order();
  const std::lock_guard lock(all.mutex);
  StreamClock& done = all.done[number_of(all, stream)];
  join(done, all.host);
  return done;
}

void note_wait(cudaStream_t stream, const StreamClock& event) {
  if (!follows) return;
  Order& all = the_order();
  const std::lock_guard lock(all.mutex);
  join(all.done[number_of(all, stream)], event);
}

void note_host_wait(const StreamClock& event) {
  if (!follows) return;
  const std::lock_guard lock(the_order().mutex);
  join(the_order().host, event);
}

void note_host_wait_for(cudaStream_t stream) {
  if (follows) note_host_wait(clock_of(stream));
}

void note_host_wait_for_all() {
  if (!follows) return;
  Order& all = the_order();
  const std::lock_guard lock(all.mutex);
  for (const StreamClock& done : all.done) join(all.host, done);
}

void note_end_of(cudaStream_t stream) {
  if (!follows) return;
  Order& all = the_order();
  const std::lock_guard lock(all.mutex);
  const auto known = all.numbers.find(stream);
  if (known == all.numbers.end()) return;
  all.free_numbers.push_back(known->second);
  all.numbers.erase(known);
}

bool is_past(const StreamWork& work) {
  Order& all = the_order();
  const std::lock_guard lock(all.mutex);
  return all.pending <= (current == nullptr ? 0 : 1) && work.stream < all.host.size() &&
         all.host[work.stream] >= work.number;
}

}  // namespace cuda_on_host
