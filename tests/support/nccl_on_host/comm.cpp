#include "tests/support/nccl_on_host/comm.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace {

/// Two ranks of one host on one GPU are refused, as by NCCL; NCCL_HOSTID says what a host is.
std::string gpu_here() {
  const char* host = std::getenv("NCCL_HOSTID");
  int device = 0;
  cudaGetDevice(&device);
  return std::string("CUDA device ") + std::to_string(device) + " of " + (host == nullptr ? "this host" : host);
}

/// Whether ranks are on hosts of their own. Those of one host share memory, in which NCCL sees no death of a peer.
bool by_network() { return std::getenv("NCCL_HOSTID") != nullptr; }

/// As if the last peer came so much later.
void be_late() {
  const char* late = std::getenv("NCCL_ON_HOST_LATE_MS");
  if (late != nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(late)));
}

void write(ncclComm_t* slot, ncclComm_t comm) { std::atomic_ref(*slot).store(comm); }

}  // namespace

std::atomic<int> ncclComm::alive{0};

ncclComm::ncclComm(int rank, int ranks, const ncclConfig_t& config)
    : rank_(rank), ranks_(ranks), blocking_(config.blocking != 0), shares_with_parts_(config.splitShare == 1) {
  ++alive;
  thread_ = std::thread([this] { run(); });
}

ncclComm::~ncclComm() {
  abort();
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ncclComm::abort() {
  const std::lock_guard lock(mutex_);
  if (!aborted_.exchange(true)) --alive;
  if (unborn_ != nullptr && !unborn_->aborted_.exchange(true)) --alive;
}

ncclResult_t ncclComm::ready() const {
  const ncclResult_t state = state_;
  return state == ncclInProgress || (state == ncclSuccess && unasked_ > 0) ? ncclInvalidArgument : state;
}

ncclResult_t ncclComm::asked() {
  const ncclResult_t state = state_;
  if (state != ncclSuccess || unasked_ == 0) return state;
  --unasked_;
  return ncclInProgress;
}

/// One job at a time. A blocking group's caller waits for it.
ncclResult_t ncclComm::begin(std::function<void()> job) {
  constexpr int times = 2;
  if (const ncclResult_t able = ready(); able != ncclSuccess) return able;
  ncclResult_t free = ncclSuccess;
  if (!state_.compare_exchange_strong(free, ncclInProgress)) return ready();
  unasked_ = blocking_ ? 0 : times;
  std::unique_lock lock(mutex_);
  job_ = std::move(job);
  changed_.notify_all();
  if (!blocking_) return ncclInProgress;
  changed_.wait(lock, [this] { return state_ != ncclInProgress; });
  return state_;
}

void ncclComm::run() {
  constexpr unsigned pause_every = 5;
  constexpr std::chrono::microseconds pause{300};
  std::unique_lock lock(mutex_);
  for (unsigned ran = 0;; ++ran) {
    changed_.wait(lock, [this] { return closed_ || job_ != nullptr; });
    if (job_ == nullptr) return;
    const std::function<void()> job = std::exchange(job_, nullptr);
    lock.unlock();
    if (ran % pause_every == 0) std::this_thread::sleep_for(pause);
    run_one(job);
    lock.lock();
    ncclResult_t unbroken = ncclInProgress;
    state_.compare_exchange_strong(unbroken, ncclSuccess);
    changed_.notify_all();
  }
}

void ncclComm::run_one(const std::function<void()>& job) {
  try {
    job();
  } catch (const nccl_on_host::DuplicateGpu& error) {
    fail(ncclInvalidUsage, error.what());
  } catch (const std::exception& error) {
    fail(ncclRemoteError, error.what());
  }
}

void ncclComm::meet(const std::string& name, const std::string& gpu) {
  name_ = name;
  gpu_ = gpu;
  const nccl_on_host::Lost lost = [this](const std::string& why) {
    if (by_network()) fail(ncclRemoteError, why);
  };
  mesh_ = std::make_unique<nccl_on_host::Mesh>(name_, rank_, ranks_, gpu_, aborted_, lost);
}

ncclResult_t ncclComm::connect(const std::string& name, ncclComm_t* slot) {
  return begin([this, name, slot, gpu = gpu_here()] {
    meet(name, gpu);
    be_late();
    write(slot, this);
  });
}

ncclResult_t ncclComm::split(int color, int key, ncclComm_t* slot, const ncclConfig_t& of_part) {
  const ncclResult_t able = ready();
  if (able != ncclSuccess) return able;
  *slot = nullptr;
  return begin([this, color, key, slot, of_part, number = splits_++] {
    auto* part = new ncclComm(0, 1, of_part);
    {
      const std::lock_guard lock(mutex_);
      unborn_ = part;
      if (aborted_ && !part->aborted_.exchange(true)) --alive;
    }
    std::exception_ptr failed;
    try {
      make_part(color, key, number, *part);
    } catch (...) {
      failed = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      unborn_ = nullptr;
    }
    be_late();
    if (failed != nullptr) delete part;
    write(slot, failed == nullptr ? part : nullptr);
    if (failed != nullptr) std::rethrow_exception(failed);
  });
}

void ncclComm::make_part(int color, int key, int number, ncclComm& part) {
  const int own[2] = {color, key};
  std::vector<std::pair<int, int>> members;
  const auto all = all_gather(*mesh_, own, sizeof own);
  for (int member = 0; member < ranks_; ++member) {
    int theirs[2];
    std::memcpy(theirs, all[static_cast<std::size_t>(member)].data(), sizeof theirs);
    if (theirs[0] == color) members.emplace_back(theirs[1], member);
  }
  std::sort(members.begin(), members.end());
  const auto place = std::find(members.begin(), members.end(), std::pair(key, rank_));
  part.rank_ = static_cast<int>(place - members.begin());
  part.ranks_ = static_cast<int>(members.size());
  part.meet(name_ + "." + std::to_string(number) + "c" + std::to_string(color), gpu_);
}

ncclResult_t ncclComm::finalize() {
  if (std::exchange(finalized_, true)) return ncclInvalidArgument;
  return begin([this] {
    constexpr std::chrono::microseconds nap{100};
    while (on_streams_ > 0 && !aborted_) std::this_thread::sleep_for(nap);
  });
}

void ncclComm::fail(ncclResult_t result, const std::string& why) {
  const std::lock_guard lock(error_mutex_);
  if (!last_error_.empty()) return;
  last_error_ = why;
  state_ = result;
}

const char* ncclComm::last_error() {
  const std::lock_guard lock(error_mutex_);
  return last_error_.c_str();
}

ncclResult_t ncclComm::order(std::vector<std::pair<cudaStream_t, Work>> works) {
  if (finalized_) return ncclInvalidArgument;
  return begin([this, works = std::move(works)] {
    for (const auto& [stream, work] : works) put(stream, work);
  });
}

/// What `work` throws becomes the state.
void ncclComm::put(cudaStream_t stream, Work work) {
  struct Call {
    ncclComm* comm;
    Work work;
  };
  const auto run = [](void* data) {
    const std::unique_ptr<Call> call(static_cast<Call*>(data));
    const ncclResult_t state = call->comm->state_;
    if (state == ncclSuccess || state == ncclInProgress) {
      call->comm->run_one([&] { call->work(*call->comm->mesh_); });
    }
    --call->comm->on_streams_;
  };
  ++on_streams_;
  if (cudaLaunchHostFunc(stream, run, new Call{this, std::move(work)}) != cudaSuccess) {
    throw std::runtime_error("the stream takes no work");
  }
}

std::vector<std::vector<std::byte>> ncclComm::all_gather(nccl_on_host::Mesh& mesh, const void* own,
                                                         std::size_t bytes) const {
  std::vector<std::byte> copy(bytes);
  if (bytes > 0) std::memcpy(copy.data(), own, bytes);
  std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(ranks_), copy);
  std::vector<nccl_on_host::Message> messages;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    messages.push_back({false, peer, copy.data(), bytes});
    messages.push_back({true, peer, all[static_cast<std::size_t>(peer)].data(), bytes});
  }
  mesh.move(messages);
  return all;
}
