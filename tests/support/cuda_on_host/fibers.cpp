// The scheduler of one block: fibers pull threads that have not begun; a thread that waits keeps its fiber.
#include "tests/support/cuda_on_host/fibers.hpp"

#include <xmmintrin.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/cuda_on_host/fiber.hpp"
#include "tests/support/cuda_on_host/language.hpp"

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local uint3 blockDim{};
constinit thread_local uint3 gridDim{};

namespace cuda_on_host {
namespace {

constexpr unsigned lanes = 32;

struct Worker {
  std::unique_ptr<Fiber> fiber;
  unsigned thread = 0;
};

/// Where lanes of one warp meet. Values lie in one of two rooms in turn, since the fastest lane is one meeting ahead.
struct Warp {
  std::array<std::array<std::uint64_t, lanes>, 2> values{};
  std::vector<Worker*> waiting;
  WarpCall call = WarpCall::none;
  unsigned meeting = 0;
};

class Block {
 public:
  void run(unsigned threads, bool backwards, const std::function<void()>& thread);
  void block_barrier();
  /// Returns the room that holds the values of this meeting.
  const std::array<std::uint64_t, lanes>& meet(unsigned mask, WarpCall call, std::uint64_t value);

 private:
  void work(Worker& worker);
  void wait();
  void release(std::vector<Worker*>& waiting);
  Worker& idle_worker();

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  std::deque<Worker*> ready_;
  std::vector<Worker*> at_barrier_;
  std::vector<Warp> warps_;
  const std::function<void()>* thread_ = nullptr;
  Worker* current_ = nullptr;
  std::exception_ptr failure_;
  unsigned threads_ = 0, begun_ = 0, live_ = 0;
  bool backwards_ = false;
};

Block& block() {
  static thread_local Block the;
  return the;
}

Mutation named_mutation() {
  const char* name = std::getenv("CUDA_ON_HOST_MUTATION");
  const std::string wanted = name == nullptr ? "" : name;
  if (wanted.empty()) return Mutation::none;
  if (wanted == "flush_to_zero") return Mutation::flush_to_zero;
  if (wanted == "no_barriers") return Mutation::no_barriers;
  if (wanted == "tree_order") return Mutation::tree_order;
  throw std::logic_error("CUDA_ON_HOST_MUTATION=" + wanted + " is none of flush_to_zero, no_barriers, tree_order");
}

/// While it lives, this thread counts as the mutation says.
class Arithmetic {
 public:
  Arithmetic() : before_(_mm_getcsr()) {
    constexpr unsigned flush_results = 0x8000, flush_operands = 0x40;
    if (mutation() == Mutation::flush_to_zero) _mm_setcsr(before_ | flush_results | flush_operands);
  }
  ~Arithmetic() { _mm_setcsr(before_); }
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

 private:
  unsigned before_;
};

void Block::run(unsigned threads, bool backwards, const std::function<void()>& thread) {
  threads_ = live_ = threads;
  begun_ = 0;
  backwards_ = backwards;
  thread_ = &thread;
  failure_ = nullptr;
  warps_.assign(threads / lanes, Warp{});
  while (live_ > 0 && failure_ == nullptr) {
    if (begun_ < threads_) {
      current_ = &idle_worker();
    } else if (!ready_.empty()) {
      current_ = backwards_ ? ready_.back() : ready_.front();
      backwards_ ? ready_.pop_back() : ready_.pop_front();
    } else {
      failure_ =
          std::make_exception_ptr(std::logic_error("threads of a block wait for each other in different places"));
      break;
    }
    threadIdx.x = current_->thread;
    current_->fiber->enter();
  }
  current_ = nullptr;
  if (failure_ == nullptr) return;
  ready_.clear();
  at_barrier_.clear();
  idle_.clear();
  workers_.clear();  // the stacks of threads that will not go on
  std::rethrow_exception(failure_);
}

Worker& Block::idle_worker() {
  if (idle_.empty()) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    worker.fiber = std::make_unique<Fiber>([this, &worker] { work(worker); });
    return worker;
  }
  Worker& worker = *idle_.back();
  idle_.pop_back();
  return worker;
}

void Block::work(Worker& worker) {
  for (;;) {
    while (begun_ < threads_ && failure_ == nullptr) {
      worker.thread = backwards_ ? threads_ - 1 - begun_ : begun_;
      ++begun_;
      threadIdx.x = worker.thread;
      try {
        (*thread_)();
      } catch (...) {
        failure_ = std::current_exception();
      }
      --live_;
      if (!at_barrier_.empty() && at_barrier_.size() == live_) release(at_barrier_);
    }
    idle_.push_back(&worker);
    worker.fiber->leave();
  }
}

void Block::release(std::vector<Worker*>& waiting) {
  ready_.insert(ready_.end(), waiting.begin(), waiting.end());
  waiting.clear();
}

void Block::wait() {
  Worker& worker = *current_;
  worker.fiber->leave();
}

void Block::block_barrier() {
  if (at_barrier_.size() + 1 == live_) return release(at_barrier_);
  at_barrier_.push_back(current_);
  wait();
}

const std::array<std::uint64_t, lanes>& Block::meet(unsigned mask, WarpCall call, std::uint64_t value) {
  if (mask != 0xffffffffU) throw std::logic_error("this double knows warp calls of all 32 lanes only");
  Warp& warp = warps_[current_->thread / lanes];
  if (warp.waiting.empty()) warp.call = call;
  if (warp.call != call) throw std::logic_error("lanes of a warp meet in different calls");
  auto& room = warp.values[warp.meeting % 2];
  room[current_->thread % lanes] = value;
  if (warp.waiting.size() + 1 == lanes) {
    ++warp.meeting;
    release(warp.waiting);
  } else {
    warp.waiting.push_back(current_);
    wait();
  }
  return room;
}

}  // namespace

Mutation mutation() {
  static const Mutation the = named_mutation();
  return the;
}

void run_grid(unsigned blocks, unsigned threads_a_block, const std::function<void()>& thread) {
  const Arithmetic arithmetic;
  static thread_local unsigned launches = 0;
  if (threads_a_block == 0 || threads_a_block > 1024 || threads_a_block % lanes != 0) {
    throw std::logic_error("this double runs blocks of 32 to 1024 threads in whole warps");
  }
  const bool backwards = ++launches % 2 == 0;
  gridDim = {blocks, 1, 1};
  blockDim = {threads_a_block, 1, 1};
  for (unsigned i = 0; i < blocks; ++i) {
    blockIdx = {backwards ? blocks - 1 - i : i, 0, 0};
    block().run(threads_a_block, backwards, thread);
  }
}

void block_barrier() {
  if (mutation() != Mutation::no_barriers) block().block_barrier();
}
void warp_barrier(unsigned mask, WarpCall call) { block().meet(mask, call, 0); }
std::uint64_t warp_exchange(unsigned mask, WarpCall call, std::uint64_t value, unsigned lane) {
  return block().meet(mask, call, value)[lane];
}
unsigned warp_ballot(unsigned mask, bool predicate) {
  const auto& given = block().meet(mask, WarpCall::ballot, predicate ? 1 : 0);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) bits |= static_cast<unsigned>(given[lane]) << lane;
  return bits;
}
unsigned lane_id() { return threadIdx.x % lanes; }

}  // namespace cuda_on_host
