// NCCL, found when it is needed, so that one binary also runs where there is none.
#pragma once

#include <nccl.h>

#include <string>

namespace trigram::gpu {

/// The functions of NCCL that we call.
struct NcclLibrary {
  decltype(&::ncclGetVersion) get_version;
  decltype(&::ncclGetUniqueId) get_unique_id;
  decltype(&::ncclGetErrorString) get_error_string;
  decltype(&::ncclGetLastError) get_last_error;
  decltype(&::ncclCommInitRankConfig) comm_init_rank_config;
  decltype(&::ncclCommSplit) comm_split;
  decltype(&::ncclCommUserRank) comm_user_rank;
  decltype(&::ncclCommCount) comm_count;
  decltype(&::ncclCommGetAsyncError) comm_get_async_error;
  decltype(&::ncclCommFinalize) comm_finalize;
  decltype(&::ncclCommDestroy) comm_destroy;
  decltype(&::ncclCommAbort) comm_abort;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
  decltype(&::ncclSend) send;
  decltype(&::ncclRecv) recv;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclReduceScatter) reduce_scatter;
  decltype(&::ncclAllGather) all_gather;
  decltype(&::ncclBroadcast) broadcast;
  decltype(&::ncclReduce) reduce;
};

/// libnccl.so.2, from the first call on: what the process has loaded already, as PyTorch's; else the one that the
/// loader finds; else, outside of Python, that of python3's nvidia.nccl. Throws UsageError when it cannot be found, and
/// when it is older than 2.18, which has no ncclCommSplit.
const NcclLibrary& nccl();

/// As NCCL writes it: 22809 is 2.28.9.
int nccl_version();

/// The file that it was loaded from.
std::string nccl_path();

}  // namespace trigram::gpu
