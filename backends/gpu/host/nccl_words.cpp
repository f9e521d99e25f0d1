#include "backends/gpu/host/nccl_words.hpp"

#include <array>

#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

constexpr std::array words{
    "ncclSuccess",
    "ncclUnhandledCudaError: a CUDA call inside NCCL failed",
    "ncclSystemError: a system call inside NCCL failed, as for sockets or /dev/shm; NCCL_DEBUG=WARN says which",
    "ncclInternalError: NCCL found itself in an impossible state; NCCL_DEBUG=WARN says where",
    "ncclInvalidArgument: an argument is wrong",
    "ncclInvalidUsage: the call is not allowed here, as for two ranks on one GPU or different versions of NCCL",
    "ncclRemoteError: another process of the group has failed or cannot be reached",
    "ncclInProgress: the call has not ended"};

}  // namespace

std::string version_text(int version) {
  constexpr int major = 10000, minor = 100;
  return std::to_string(version / major) + "." + std::to_string(version % major / minor) + "." +
         std::to_string(version % minor);
}

std::string result_words(int result) {
  if (result < 0 || result >= static_cast<int>(words.size())) return "NCCL's result " + std::to_string(result);
  return words[static_cast<std::size_t>(result)];
}

void require_one_version(const std::vector<int>& version_of_rank) {
  for (std::size_t rank = 1; rank < version_of_rank.size(); ++rank) {
    require(version_of_rank[rank] == version_of_rank[0],
            "rank 0 has NCCL " + version_text(version_of_rank[0]) + " and rank " + std::to_string(rank) + " has " +
                version_text(version_of_rank[rank]) + "; all ranks need one version");
  }
}

}  // namespace trigram::gpu
