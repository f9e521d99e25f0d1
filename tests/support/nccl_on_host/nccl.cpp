// Groups, splits and messages of the double (see nccl.h).
#include "tests/support/nccl_on_host/nccl.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "ptx/runtime/control.hpp"
#include "tests/support/nccl_on_host/comm.hpp"

using nccl_on_host::Message;

namespace {

/// What one thread has said since ncclGroupStart, by group and stream.
struct OpenGroup {
  int depth = 0;
  bool in_progress = false;  ///< a group that does not block was aborted inside
  std::map<ncclComm_t, std::map<cudaStream_t, std::vector<Message>>> messages;
  ncclResult_t failed = ncclSuccess;  ///< the first call inside that did
};
thread_local OpenGroup open_group;

std::size_t size_of(ncclDataType_t type) {
  constexpr std::size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[type];
}

/// What fails inside a group makes its end fail, which then orders nothing.
ncclResult_t noted(ncclResult_t result) {
  const bool well = result == ncclSuccess || result == ncclInProgress;
  if (open_group.depth > 0 && !well && open_group.failed == ncclSuccess) open_group.failed = result;
  return result;
}

ncclResult_t say(const Message& message, ncclComm_t comm, cudaStream_t stream) {
  if (message.peer < 0 || message.peer >= comm->ranks()) return noted(ncclInvalidArgument);
  if (const ncclResult_t able = comm->ready(); able != ncclSuccess) return noted(able);
  ncclGroupStart();
  open_group.messages[comm][stream].push_back(message);
  return ncclGroupEnd();
}

/// Streams of one group share its sockets, which each must have for itself.
ncclResult_t order_all(const OpenGroup& group) {
  for (const auto& [comm, by_stream] : group.messages) {
    const bool alike = comm->blocking() == group.messages.begin()->first->blocking();
    if (!alike || by_stream.size() > 1) return ncclInvalidUsage;
  }
  ncclResult_t result = ncclSuccess;
  for (const auto& [comm, by_stream] : group.messages) {
    std::vector<std::pair<cudaStream_t, ncclComm::Work>> works;
    for (const auto& [stream, messages] : by_stream) {
      works.emplace_back(stream, [messages](nccl_on_host::Mesh& mesh) {
        for (const Message& message : messages)
          cuda_on_host::require_live(message.address, message.bytes, message.receive ? "ncclRecv" : "ncclSend");
        mesh.move(messages);
      });
    }
    const ncclResult_t ordered = comm->order(std::move(works));
    if (result == ncclSuccess || result == ncclInProgress) result = ordered;
  }
  return result;
}

/// The answer of a call that ends behind the caller's back where the group is not blocking.
ncclResult_t begun(bool blocking) { return blocking ? ncclSuccess : ncclInProgress; }

std::atomic<int> own_resources{0};
std::atomic<int> aborted{0};
std::atomic<int> finalizing{0};

}  // namespace

bool nccl_on_host::outside_of_groups() { return open_group.depth == 0; }
using nccl_on_host::outside_of_groups;

ncclResult_t ncclGetVersion(int* version) {
  const char* wanted = std::getenv("NCCL_ON_HOST_VERSION");
  *version = wanted == nullptr ? 22809 : std::atoi(wanted);
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::random_device random;
  const std::string text = std::to_string(getpid()) + "-" + std::to_string(random()) + "-" + std::to_string(random());
  *id = {};
  std::memcpy(id->internal, text.data(), text.size());
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t) { return "an error of the double"; }
const char* ncclGetLastError(ncclComm_t comm) { return comm == nullptr ? "" : comm->last_error(); }

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (!outside_of_groups()) return noted(ncclInvalidUsage);
  auto* made = new ncclComm(rank, ranks, *config);
  *comm = made;
  ++own_resources;
  return made->connect(id.internal, comm);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
  if (!outside_of_groups()) return noted(ncclInvalidUsage);
  if (!comm->shares_with_parts()) ++own_resources;
  return comm->split(color, key, part, *config);
}

int ncclOnHostOwnResources() { return own_resources; }
int ncclOnHostAborted() { return aborted; }
int ncclOnHostFinalizing() { return finalizing; }
int ncclOnHostAlive() { return ncclComm::alive; }

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  *rank = comm->rank();
  return comm->ready();
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks) {
  *ranks = comm->ranks();
  return comm->ready();
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  *state = comm->asked();
  return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  if (!outside_of_groups()) return noted(ncclInvalidUsage);
  ++finalizing;
  const ncclResult_t result = comm->finalize();
  --finalizing;
  return result;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!outside_of_groups()) return noted(ncclInvalidUsage);
  const bool blocking = comm->blocking();
  delete comm;
  return begun(blocking);
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const bool blocking = comm->blocking();
  ++aborted;
  if (open_group.messages.contains(comm)) return noted(ncclInvalidUsage);
  if (!outside_of_groups()) open_group.in_progress = open_group.in_progress || !blocking;
  comm->abort();  // not deleted: work that is still on a stream may look at it
  return begun(blocking);
}

ncclResult_t ncclGroupStart() {
  ++open_group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (open_group.depth == 0) return ncclInvalidUsage;
  if (--open_group.depth > 0) return ncclSuccess;
  const OpenGroup group = std::exchange(open_group, {});
  if (group.failed != ncclSuccess) return group.failed;
  const ncclResult_t ordered = order_all(group);
  return ordered == ncclSuccess && group.in_progress ? ncclInProgress : ordered;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  // Only read from: a message of either direction has one kind of address.
  auto* address = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  return say({false, peer, address, count * size_of(type)}, comm, stream);
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return say({true, peer, static_cast<std::byte*>(to), count * size_of(type)}, comm, stream);
}
