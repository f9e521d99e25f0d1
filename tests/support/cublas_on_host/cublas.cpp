// Column-major products, at once. A product without a workspace is refused.
#include <cstdlib>

#include "tests/support/cublas_on_host/cublas_v2.h"

struct cublasContext {
  void* workspace = nullptr;
};

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (std::getenv("CUBLAS_ON_HOST_FAILS") != nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t) {
  handle->workspace = workspace;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t form_a, cublasOperation_t form_b, int m, int n,
                              int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc) {
  if (handle->workspace == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const auto element = [](const float* x, cublasOperation_t form, int row, int column, int stride) {
    return form == CUBLAS_OP_N ? x[column * stride + row] : x[row * stride + column];
  };
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += element(a, form_a, row, l, lda) * element(b, form_b, l, column, ldb);
      float& place = c[column * ldc + row];
      place = *alpha * sum + (*beta == 0 ? 0 : *beta * place);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
