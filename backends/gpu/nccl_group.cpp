#include "backends/gpu/nccl_group.hpp"

#include <chrono>
#include <exception>
#include <future>
#include <thread>
#include <utility>

#include "backends/gpu/host/nccl_words.hpp"
#include "core/values/error.hpp"
#include "processes/last_resort.hpp"

namespace trigram::gpu {
namespace {

using Steady = std::chrono::steady_clock;

/// What is missing when a call is not finished at once takes microseconds mostly, and connections milliseconds.
constexpr std::chrono::microseconds spin_for{200};
constexpr std::chrono::microseconds nap{100};
constexpr std::chrono::seconds others_may_take{2};
constexpr double finish_within = 10;

ncclConfig_t configuration(Calls calls) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = calls == Calls::block ? 1 : 0;
  config.splitShare = 1;  // with its parts: asked of the parent, and all are on one stream, so never at work at once
  return config;
}

void nap_since(Steady::time_point begun) {
  if (Steady::now() - begun > spin_for) std::this_thread::sleep_for(nap);
}

}  // namespace

ncclUniqueId make_unique_id() {
  ncclUniqueId id;
  const ncclResult_t result = nccl().get_unique_id(&id);
  if (result != ncclSuccess) throw BackendError("ncclGetUniqueId: " + result_words(result));
  return id;
}

NcclGroup::NcclGroup(std::string name, const ncclUniqueId& id, int ranks, int rank, double timeout, Calls calls,
                     std::shared_ptr<const WayOut> way_out)
    : name_(std::move(name)), timeout_(timeout), calls_(calls), way_out_(std::move(way_out)) {
  ncclConfig_t config = configuration(calls_);
  begin(nccl().comm_init_rank_config(slot_.place(), ranks, id, rank, &config), "ncclCommInitRankConfig");
}

NcclGroup::NcclGroup(std::string name, CommSlot slot, const NcclGroup& parent)
    : name_(std::move(name)),
      slot_(std::move(slot)),
      timeout_(parent.timeout_),
      calls_(parent.calls_),
      way_out_(parent.way_out_) {
  begin(ncclInProgress, "ncclCommSplit");
}

/// The rest of both constructors. When it throws no destructor runs, so it leaves no communicator behind.
void NcclGroup::begin(ncclResult_t result, const char* what) {
  const Steady::time_point begun = Steady::now();
  while (result == ncclInProgress && slot_.comm() == nullptr && !is_over(begun, timeout_)) nap_since(begun);
  comm_ = slot_.comm();
  try {
    if (comm_ != nullptr) result = settled(result, timeout_);
    require_success(result, what);
    require_success(nccl().comm_user_rank(comm_, &rank_), "ncclCommUserRank");
    require_success(nccl().comm_count(comm_, &size_), "ncclCommCount");
  } catch (...) {
    if (comm_ != nullptr) nccl().comm_abort(comm_);
    throw;
  }
  slot_.was_written();
}

NcclGroup::~NcclGroup() {
  // While an error unwinds, peers may never do their part.
  const std::string trouble = std::uncaught_exceptions() > 0 ? abandon() : finish(finish_within);
  if (!trouble.empty()) write_line("trigram: " + trouble);
}

std::unique_ptr<NcclGroup> NcclGroup::split(std::string name, int color, int key) {
  CommSlot slot;
  ncclConfig_t config = configuration(calls_);
  try {
    call("ncclCommSplit", [&](ncclComm_t comm) { return nccl().comm_split(comm, color, key, slot.place(), &config); });
  } catch (...) {
    const std::lock_guard lock(mutex_);  // the watchdog may be aborting them
    late_parts_.push_back(std::move(slot));
    throw;
  }
  return std::unique_ptr<NcclGroup>(new NcclGroup(std::move(name), std::move(slot), *this));
}

void NcclGroup::call(const char* what, const std::function<ncclResult_t(ncclComm_t)>& function) {
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) throw BackendError(name_ + ": " + what + " on a group that was aborted");
  require_success(settled(function(comm_), timeout_), what);
}

bool NcclGroup::is_over(Steady::time_point begun, double seconds) const {
  if (way_out_ != nullptr && way_out_->is_open()) return true;
  return seconds > 0 && Steady::now() - begun > std::chrono::duration<double>(seconds);
}

ncclResult_t NcclGroup::state() {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t result = nccl().comm_get_async_error(comm_, &state);
  return result == ncclSuccess ? state : result;
}

ncclResult_t NcclGroup::settled(ncclResult_t result, double seconds) {
  if (result != ncclSuccess && result != ncclInProgress) return result;
  const Steady::time_point begun = Steady::now();
  for (result = state(); result == ncclInProgress && !is_over(begun, seconds); result = state()) nap_since(begun);
  return result;
}

std::string NcclGroup::words(ncclResult_t result, const char* what) {
  const char* last = nccl().get_last_error(comm_);
  return name_ + ": " + what + (*what == '\0' ? "" : ": ") + result_words(result) +
         (last == nullptr || *last == '\0' ? "" : "; NCCL says: " + std::string(last));
}

void NcclGroup::require_success(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  if (result != ncclInProgress) throw BackendError(words(result, what));
  if (way_out_ != nullptr) way_out_->require_shut();
  throw BackendError(name_ + ": " + what + " has waited " + number_text(timeout_) +
                     " s for the other ranks of its group");
}

std::string NcclGroup::asynchronous_error() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || comm_ == nullptr) return {};
  const ncclResult_t result = state();
  if (result == ncclSuccess || result == ncclInProgress) return {};
  return words(result, "");
}

/// Parts that came after their split was given up.
void NcclGroup::abort_late_parts() {
  for (CommSlot& part : late_parts_) {
    if (part.comm() == nullptr) continue;  // NCCL may still write it, and nobody hears when
    nccl().comm_abort(part.comm());
    part.was_written();
  }
  late_parts_.clear();
}

std::string NcclGroup::abandon() {
  const std::unique_lock lock(mutex_, others_may_take);
  if (!lock.owns_lock()) return name_ + ": another call on it does not end, so that it was not aborted";
  if (comm_ == nullptr) return {};
  abort_late_parts();
  const ncclResult_t result = nccl().comm_abort(std::exchange(comm_, nullptr));
  // A group that is not blocking is taken down by a thread of NCCL's; from here on it must not be asked.
  return result == ncclSuccess || result == ncclInProgress ? "" : words(result, "ncclCommAbort");
}

/// A call that blocks is on a thread of its own: its result is in `blocked`, and aborting ends it.
ncclResult_t NcclGroup::finalized(double seconds, std::future<ncclResult_t>& blocked) {
  if (calls_ == Calls::ask) return settled(nccl().comm_finalize(comm_), seconds);
  std::packaged_task<ncclResult_t()> task([comm = comm_] { return nccl().comm_finalize(comm); });
  blocked = task.get_future();
  std::thread(std::move(task)).detach();
  const bool ready = blocked.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::ready;
  return ready ? blocked.get() : ncclInProgress;
}

std::string NcclGroup::finish(double seconds) {
  std::unique_lock lock(mutex_, others_may_take);
  if (!lock.owns_lock()) return name_ + ": another call on it does not end, so that it was left as it is";
  if (comm_ == nullptr) return {};
  std::string why;
  std::future<ncclResult_t> blocked;
  if (!late_parts_.empty()) {
    why = name_ + ": a split of it has failed";  // its abort is this group's, with which it shares
  } else if (const ncclResult_t result = finalized(seconds, blocked); result != ncclSuccess) {
    why = words(result, "ncclCommFinalize");
  }
  if (!why.empty()) {
    lock.unlock();
    const std::string aborted = abandon();
    why += aborted.empty() ? "; it was aborted" : "; " + aborted;
    const bool over = !blocked.valid() || blocked.wait_for(others_may_take) == std::future_status::ready;
    return over ? why : why + ", and ncclCommFinalize has not ended yet";
  }
  const ncclResult_t result = nccl().comm_destroy(std::exchange(comm_, nullptr));
  return result == ncclSuccess || result == ncclInProgress ? "" : words(result, "ncclCommDestroy");
}

}  // namespace trigram::gpu
