#include "backends/gpu/nccl_group.hpp"

#include <chrono>
#include <exception>
#include <thread>

#include "backends/gpu/host/nccl_words.hpp"
#include "core/error.hpp"

namespace trigram::gpu {
namespace {

using Steady = std::chrono::steady_clock;

/// What is missing when a call is not finished at once takes microseconds mostly, and connections milliseconds.
constexpr std::chrono::microseconds spin_for{200};
constexpr std::chrono::microseconds nap{100};
constexpr std::chrono::seconds others_may_take{2};
constexpr double finish_within = 10;

ncclConfig_t configuration() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

}  // namespace

ncclUniqueId make_unique_id() {
  ncclUniqueId id;
  const ncclResult_t result = nccl().get_unique_id(&id);
  if (result != ncclSuccess) throw BackendError("ncclGetUniqueId: " + result_words(result));
  return id;
}

NcclGroup::NcclGroup(std::string name, const ncclUniqueId& id, int ranks, int rank, double timeout)
    : name_(std::move(name)), timeout_(timeout), rank_(rank), size_(ranks) {
  ncclConfig_t config = configuration();
  const ncclResult_t result = nccl().comm_init_rank_config(&comm_, ranks, id, rank, &config);
  require_success(settled(result, timeout_), "ncclCommInitRankConfig");
}

NcclGroup::NcclGroup(std::string name, ncclComm_t comm, double timeout)
    : name_(std::move(name)), comm_(comm), timeout_(timeout) {
  require_success(settled(ncclInProgress, timeout_), "ncclCommSplit");
  learn_ranks();
}

NcclGroup::~NcclGroup() {
  // While an error unwinds, peers may never do their part.
  if (std::uncaught_exceptions() > 0) {
    abandon();
  } else {
    finish(finish_within);
  }
}

void NcclGroup::learn_ranks() {
  require_success(nccl().comm_user_rank(comm_, &rank_), "ncclCommUserRank");
  require_success(nccl().comm_count(comm_, &size_), "ncclCommCount");
}

std::unique_ptr<NcclGroup> NcclGroup::split(std::string name, int color, int key) {
  ncclComm_t part = nullptr;
  ncclConfig_t config = configuration();
  call("ncclCommSplit", [&](ncclComm_t comm) { return nccl().comm_split(comm, color, key, &part, &config); });
  return std::unique_ptr<NcclGroup>(new NcclGroup(std::move(name), part, timeout_));
}

void NcclGroup::call(const char* what, const std::function<ncclResult_t(ncclComm_t)>& function) {
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) throw BackendError(name_ + ": " + what + " on a group that was aborted");
  require_success(settled(function(comm_), timeout_), what);
}

ncclResult_t NcclGroup::state() {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t result = nccl().comm_get_async_error(comm_, &state);
  return result == ncclSuccess ? state : result;
}

ncclResult_t NcclGroup::settled(ncclResult_t result, double seconds) {
  if (result != ncclSuccess && result != ncclInProgress) return result;
  const Steady::time_point begin = Steady::now();
  for (result = state(); result == ncclInProgress; result = state()) {
    const Steady::duration waited = Steady::now() - begin;
    if (seconds > 0 && waited > std::chrono::duration<double>(seconds)) return result;
    if (waited > spin_for) std::this_thread::sleep_for(nap);
  }
  return result;
}

void NcclGroup::require_success(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  std::string text = name_ + ": " + what;
  if (result == ncclInProgress) {
    throw BackendError(text + " has waited " + std::to_string(static_cast<int>(timeout_)) +
                       " s for the other ranks of its group");
  }
  text += ": " + result_words(result);
  const char* last = nccl().get_last_error(comm_);
  if (last != nullptr && *last != '\0') text += "; NCCL says: " + std::string(last);
  throw BackendError(text);
}

std::string NcclGroup::asynchronous_error() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || comm_ == nullptr) return {};
  const ncclResult_t result = state();
  if (result == ncclSuccess || result == ncclInProgress) return {};
  const char* last = nccl().get_last_error(comm_);
  return name_ + ": " + result_words(result) +
         (last == nullptr || *last == '\0' ? "" : "; NCCL says: " + std::string(last));
}

bool NcclGroup::abandon() {
  const std::unique_lock lock(mutex_, others_may_take);
  if (!lock.owns_lock()) return false;
  if (comm_ != nullptr) nccl().comm_abort(comm_);
  comm_ = nullptr;
  return true;
}

void NcclGroup::finish(double seconds) noexcept {
  const std::unique_lock lock(mutex_, others_may_take);
  if (!lock.owns_lock() || comm_ == nullptr) return;
  if (settled(nccl().comm_finalize(comm_), seconds) == ncclSuccess) {
    nccl().comm_destroy(comm_);
  } else {
    nccl().comm_abort(comm_);
  }
  comm_ = nullptr;
}

}  // namespace trigram::gpu
