// The part of NCCL's API that the project calls, with NCCL's names, values and signatures, for the test double in this
// folder: ranks are processes of one host, bytes travel by sockets between them. It has NCCL's habits that code must
// cope with: calls that are in progress when they return, groups that take no call meanwhile, communicators that are
// written where the caller said by another thread and as late as the last peer comes, also when the call failed; errors
// that only ncclCommGetAsyncError tells, and only between hosts, so that what waits for a peer which is gone waits until
// it is aborted; no comparison of sizes, and the refusal of two ranks of one host on one GPU.
// What it does not take in a group of calls it refuses there, as NCCL refuses groups whose members block and do not. A
// call on a group that does not block is in progress until its caller has asked often enough. NCCL_ON_HOST_LATE_MS
// makes peers late. Small and slow; found before the real header by tests only.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

using ncclComm_t = struct ncclComm*;

enum ncclResult_t : int {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
};
enum ncclRedOp_t : int { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 };
enum ncclDataType_t : int {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9
};

struct ncclUniqueId {
  char internal[128];
};
struct ncclConfig_t {
  int blocking;
  int splitShare;
};
#define NCCL_CONFIG_INITIALIZER \
  { 1, 0 }

extern "C" {
ncclResult_t ncclGetVersion(int* version);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t comm);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config);
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream);

/// Of the double only: how many communicators of this process have been made that share no other's resources.
int ncclOnHostOwnResources();
/// Of the double only: how many have been aborted.
int ncclOnHostAborted();
/// Of the double only: how many are neither destroyed nor aborted, nor failed to be made.
int ncclOnHostAlive();
/// Calls of ncclCommFinalize that have not returned.
int ncclOnHostFinalizing();
}
