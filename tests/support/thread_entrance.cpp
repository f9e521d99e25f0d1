#include "tests/support/thread_entrance.hpp"

#include <chrono>
#include <condition_variable>
#include <utility>

#include "core/carried_error.hpp"
#include "tests/support/thread_world.hpp"

namespace trigram {

namespace {

/// The failing thread keeps its exception, and others get one that it no longer looks at.
std::exception_ptr of_its_own(const std::exception_ptr& error) {
  try {
    CarriedError::of(error).rethrow();
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

/// One world, and how many have come and gone.
class ThreadEntrance::Hall {
 public:
  Hall(const World& world, const std::vector<int>& node_of_rank, double timeout)
      : shared_(world, node_of_rank, timeout), timeout_(timeout), ranks_(world.ranks) {
    results_.resize(static_cast<std::size_t>(ranks_));
  }

  ThreadWorld& world() { return shared_; }
  /// This rank, and whether it is the last.
  std::pair<int, bool> come() {
    const std::lock_guard lock(mutex_);
    const int rank = came_++;
    changed_.notify_all();
    return {rank, came_ == ranks_};
  }
  void wait_for_all() { wait(came_, "have entered"); }
  std::vector<std::vector<std::byte>> go(int rank, const std::vector<std::byte>& result) {
    {
      const std::lock_guard lock(mutex_);
      results_[static_cast<std::size_t>(rank)] = result;
      ++gone_;
      changed_.notify_all();
    }
    wait(gone_, "have left");
    return results_;
  }
  void fail(const std::exception_ptr& error) {
    shared_.fail(of_its_own(error));
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  void wait(const int& count, const char* what) {
    std::unique_lock lock(mutex_);
    const auto all = [&] { return count == ranks_; };
    changed_.wait_for(lock, std::chrono::duration<double>(timeout_), [&] { return failed_ || all(); });
    if (all()) return;
    if (failed_) shared_.rethrow_failure();
    ensure(false, "only ", count, " of ", ranks_, " ranks ", what);
  }

  ThreadWorld shared_;
  double timeout_;
  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int came_ = 0;
  int gone_ = 0;
  bool failed_ = false;
  std::vector<std::vector<std::byte>> results_;
};

class ThreadEntrance::Rank final : public EnteredRank {
 public:
  Rank(std::shared_ptr<Hall> hall, int rank) : hall_(std::move(hall)), rank_(rank), runtime_(hall_->world(), rank) {}
  ~Rank() override {
    if (ended_) return;
    fail(std::make_exception_ptr(Error("rank " + std::to_string(rank_) + " neither left its world nor failed")));
    runtime_.stop_lanes();
  }

  RankRuntime& runtime() override { return runtime_; }
  Outcome leave(const std::vector<std::byte>& result) override {
    const double ended = runtime_.now();
    ended_ = true;
    Outcome outcome;
    outcome.results = hall_->go(rank_, result);
    outcome.seconds = runtime_.latest(ended);
    return outcome;
  }
  void fail(std::exception_ptr error) noexcept override {
    ended_ = true;
    hall_->fail(error);
  }

 private:
  std::shared_ptr<Hall> hall_;
  int rank_;
  ThreadRuntime runtime_;
  bool ended_ = false;
};

ThreadEntrance::ThreadEntrance() = default;
ThreadEntrance::~ThreadEntrance() = default;

std::unique_ptr<EnteredRank> ThreadEntrance::enter(const World& world, const std::vector<int>& node_of_rank,
                                                   double timeout) {
  std::shared_ptr<Hall> hall;
  int rank = 0;
  {
    const std::lock_guard lock(mutex_);
    if (filling_ == nullptr) filling_ = std::make_shared<Hall>(world, node_of_rank, timeout);
    hall = filling_;
    const auto [own, last] = hall->come();
    rank = own;
    if (last) filling_ = nullptr;
  }
  auto entered = std::make_unique<Rank>(hall, rank);
  hall->wait_for_all();
  return entered;
}

}  // namespace trigram
