#include "backends/gpu/nccl_library.hpp"

#include <dlfcn.h>

#include <string>

#include "backends/gpu/host/nccl_words.hpp"
#include "core/values/error.hpp"
#include "kernels/cuda/runtime/python_folder.hpp"

namespace trigram::gpu {
namespace {

constexpr const char* library_name = "libnccl.so.2";
constexpr int oldest = 21800;

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  require(function != nullptr, std::string(library_name) + " has no " + name + "; backend 'gpu' needs NCCL " +
                                   version_text(oldest) + " or later");
}

/// What this process has already, as PyTorch's, beside which no other version can be loaded; then the loader's own,
/// then pip's. Never unloaded: NCCL's threads may run until the process ends.
void* open_library() {
  constexpr int mode = RTLD_NOW | RTLD_LOCAL;
  if (void* library = dlopen(library_name, mode | RTLD_NOLOAD); library != nullptr) return library;
  if (void* library = dlopen(library_name, mode); library != nullptr) return library;
  const char* reason = dlerror();  // NOLINT(concurrency-mt-unsafe): loaded once, before there are lanes
  const std::string why = reason == nullptr ? library_name : reason;
  const std::string folder = cuda::python_folder("nvidia.nccl");
  void* library = folder.empty() ? nullptr : dlopen((folder + "/" + library_name).c_str(), mode);
  require(library != nullptr, "NCCL cannot be loaded (", why, "; nor has python3 nvidia.nccl, where it was asked",
          "); install libnccl2, or nvidia-nccl-cu13 by pip, or name the folder of ", library_name,
          " in LD_LIBRARY_PATH; inside Python load it before, as an import of torch for CUDA does");
  return library;
}

NcclLibrary load() {
  void* library = open_library();
  NcclLibrary functions{};
  find(library, "ncclGetVersion", functions.get_version);
  find(library, "ncclGetUniqueId", functions.get_unique_id);
  find(library, "ncclGetErrorString", functions.get_error_string);
  find(library, "ncclGetLastError", functions.get_last_error);
  find(library, "ncclCommInitRankConfig", functions.comm_init_rank_config);
  find(library, "ncclCommSplit", functions.comm_split);
  find(library, "ncclCommUserRank", functions.comm_user_rank);
  find(library, "ncclCommCount", functions.comm_count);
  find(library, "ncclCommGetAsyncError", functions.comm_get_async_error);
  find(library, "ncclCommFinalize", functions.comm_finalize);
  find(library, "ncclCommDestroy", functions.comm_destroy);
  find(library, "ncclCommAbort", functions.comm_abort);
  find(library, "ncclGroupStart", functions.group_start);
  find(library, "ncclGroupEnd", functions.group_end);
  find(library, "ncclSend", functions.send);
  find(library, "ncclRecv", functions.recv);
  find(library, "ncclAllReduce", functions.all_reduce);
  find(library, "ncclReduceScatter", functions.reduce_scatter);
  find(library, "ncclAllGather", functions.all_gather);
  find(library, "ncclBroadcast", functions.broadcast);
  find(library, "ncclReduce", functions.reduce);
  int version = 0;
  functions.get_version(&version);
  require(version >= oldest,
          "NCCL " + version_text(version) + " is too old; backend 'gpu' needs " + version_text(oldest) + " or later");
  return functions;
}

}  // namespace

const NcclLibrary& nccl() {
  static const NcclLibrary functions = load();
  return functions;
}

std::string nccl_path() {
  Dl_info found{};
  const auto* function = reinterpret_cast<const void*>(nccl().get_version);
  return dladdr(function, &found) == 0 || found.dli_fname == nullptr ? library_name : found.dli_fname;
}

int nccl_version() {
  int version = 0;
  nccl().get_version(&version);
  return version;
}

}  // namespace trigram::gpu
