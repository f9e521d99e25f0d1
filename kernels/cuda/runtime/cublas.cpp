// Loads cuBLAS with dlopen and multiplies row-major matrices as the transposes that it takes them for.
#include "kernels/cuda/runtime/cublas.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <limits>
#include <string>
#include <utility>

#include "core/values/error.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "kernels/cuda/runtime/python_folder.hpp"

namespace trigram::cuda {
namespace {

void* opened_in(const std::string& folder) {
  for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
    if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
  }
  return nullptr;
}

/// By name for the loader's own search, then where the toolkit was when this was built, then where pip puts it.
void* open_library() {
  for (const std::string& folder : {std::string(), std::string(TRIGRAM_CUDA_LIBRARIES) + "/"}) {
    if (void* library = opened_in(folder); library != nullptr) return library;
  }
  for (const char* package : {"nvidia.cu13", "nvidia.cublas"}) {
    const std::string folder = python_folder(package);
    void* library = folder.empty() ? nullptr : opened_in(folder + "/");
    if (library != nullptr) return library;
  }
  return nullptr;
}

/// Null where there is none.
void* library() {
  static void* const opened = open_library();
  return opened;
}

void check_cublas(cublasStatus_t status, const char* operation) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw BackendError(std::string(operation) + ": cuBLAS fails with status " + std::to_string(status));
  }
}

template <class Function>
Function* symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) throw BackendError(std::string("cuBLAS has no function ") + name);
  return reinterpret_cast<Function*>(address);
}

/// cuBLAS counts with int.
int narrow(std::int64_t size) {
  ensure(size <= std::numeric_limits<int>::max(), "gemm: ", size, " rows or columns are too many");
  return static_cast<int>(size);
}

class LoadedCublas final : public Cublas {
 public:
  LoadedCublas(void* library, cudaStream_t stream)
      : stream_(stream),
        destroy_(symbol<decltype(cublasDestroy_v2)>(library, "cublasDestroy_v2")),
        set_workspace_(symbol<decltype(cublasSetWorkspace_v2)>(library, "cublasSetWorkspace_v2")),
        sgemm_(symbol<decltype(cublasSgemm_v2)>(library, "cublasSgemm_v2")) {
    check_cublas(symbol<decltype(cublasCreate_v2)>(library, "cublasCreate_v2")(&handle_), "cublasCreate");
    check_cublas(symbol<decltype(cublasSetStream_v2)>(library, "cublasSetStream_v2")(handle_, stream),
                 "cublasSetStream");
  }
  ~LoadedCublas() override {
    static_cast<void>(destroy_(handle_));
    if (workspace_ != nullptr) static_cast<void>(cudaFreeAsync(workspace_, stream_));
  }
  LoadedCublas(const LoadedCublas&) = delete;
  LoadedCublas& operator=(const LoadedCublas&) = delete;

  void multiply(const GemmShape& shape, const float* a, const float* b, float* c) override {
    if (workspace_ == nullptr) take_workspace();
    const int m = narrow(shape.m);
    const int n = narrow(shape.n);
    const int k = narrow(shape.k);
    const auto form = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    // Row-major C is column-major Cᵀ = op(B)ᵀ op(A)ᵀ.
    check_cublas(sgemm_(handle_, form(shape.transpose_b), form(shape.transpose_a), n, m, k, &shape.alpha, b,
                        shape.transpose_b ? k : n, a, shape.transpose_a ? m : k, &shape.beta, c, n),
                 "gemm");
  }

 private:
  /// Most lanes multiply nothing, so at the first product: memory of the stream's pool makes nobody wait.
  void take_workspace() {
    check(cudaMallocAsync(&workspace_, workspace_bytes, stream_), "cudaMallocAsync");
    check_cublas(set_workspace_(handle_, workspace_, workspace_bytes), "cublasSetWorkspace");
  }

  /// What NVIDIA recommends for the largest GPUs.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20U;

  cudaStream_t stream_;
  decltype(cublasDestroy_v2)* destroy_;
  decltype(cublasSetWorkspace_v2)* set_workspace_;
  decltype(cublasSgemm_v2)* sgemm_;
  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

/// Says why at the first product, since what multiplies nothing needs none.
class BrokenCublas final : public Cublas {
 public:
  explicit BrokenCublas(std::string why) : why_(std::move(why)) {}
  void multiply(const GemmShape&, const float*, const float*, float*) override {
    throw BackendError("matrices cannot be multiplied: " + why_);
  }

 private:
  std::string why_;
};

}  // namespace

std::unique_ptr<Cublas> Cublas::open(cudaStream_t stream) {
  if (library() == nullptr) return nullptr;
  try {
    return std::make_unique<LoadedCublas>(library(), stream);
  } catch (const BackendError& error) {
    return std::make_unique<BrokenCublas>(error.what());
  }
}

std::string Cublas::used() {
  if (library() == nullptr) return "its own kernels";
  Dl_info found{};
  const void* function = dlsym(library(), "cublasSgemm_v2");
  const bool known = function != nullptr && dladdr(function, &found) != 0 && found.dli_fname != nullptr;
  return std::string("cuBLAS of ") + (known ? found.dli_fname : "an unknown file");
}

}  // namespace trigram::cuda
