// Groups, splits and messages of the double (see nccl.h).
#include "tests/support/nccl_on_host/nccl.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "tests/support/nccl_on_host/comm.hpp"

using nccl_on_host::Message;

namespace {

/// What one thread has said since ncclGroupStart, by group and stream.
struct OpenGroup {
  int depth = 0;
  std::map<std::pair<ncclComm_t, cudaStream_t>, std::vector<Message>> messages;
};
thread_local OpenGroup open_group;

std::size_t size_of(ncclDataType_t type) {
  constexpr std::size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[type];
}

ncclResult_t say(const Message& message, ncclComm_t comm, cudaStream_t stream) {
  if (message.peer < 0 || message.peer >= comm->ranks()) return ncclInvalidArgument;
  ncclGroupStart();
  open_group.messages[{comm, stream}].push_back(message);
  return ncclGroupEnd();
}

}  // namespace

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

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t*) {
  *comm = new ncclComm(id.internal, rank, ranks);
  return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t*) {
  *part = new ncclComm(*comm, color, key);
  return ncclInProgress;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  *rank = comm->rank();
  return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks) {
  *ranks = comm->ranks();
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  *state = comm->state();
  return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) { return comm->state(); }
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->abort();  // not deleted: work that is still on a stream may look at it
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++open_group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (open_group.depth == 0) return ncclInvalidUsage;
  if (--open_group.depth > 0) return ncclSuccess;
  const auto all = std::exchange(open_group.messages, {});
  for (const auto& [where, messages] : all) {
    where.first->order(where.second, [messages](nccl_on_host::Mesh& mesh) { mesh.move(messages); });
  }
  return ncclSuccess;
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
