// How cuBLAS is opened and used, on a library of its name for the host.
#include "kernels/cuda/runtime/cublas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "core/values/error.hpp"
#include "ptx/runtime/control.hpp"

namespace trigram::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::ThrowsMessage;

constexpr GemmShape two_by_one{.m = 2, .n = 1, .k = 2};
constexpr std::array<float, 4> matrix{1, 2, 3, 4};
constexpr std::array<float, 2> vector{5, 6};

TEST(OpenedCublas, TakesItsWorkspaceAtTheFirstProductAndGivesItBackWithoutAWait) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const std::int64_t before = cuda_on_host::live().device_bytes;
  auto cublas = Cublas::open(stream);
  ASSERT_NE(cublas, nullptr);
  EXPECT_EQ(cuda_on_host::live().device_bytes, before);
  std::array<float, 2> product{};
  {
    const cuda_on_host::NoDeviceWideCalls quiet;
    cublas->multiply(two_by_one, matrix.data(), vector.data(), product.data());
    EXPECT_EQ(cuda_on_host::live().device_bytes, before + (32 << 20));
    cublas.reset();
  }
  EXPECT_THAT(product, ElementsAre(17, 39));
  EXPECT_EQ(cuda_on_host::live().device_bytes, before);
  EXPECT_EQ(cuda_on_host::take_misuse(), "");
  cudaStreamDestroy(stream);
}

TEST(OpenedCublas, SaysItsFile) {
  EXPECT_THAT(Cublas::used(), MatchesRegex("cuBLAS of .*/cublas_on_host/libcublas.so.13"));
}

TEST(OpenedCublas, ThatFailsSaysSoAtTheFirstProduct) {
  setenv("CUBLAS_ON_HOST_FAILS", "1", 1);
  const auto cublas = Cublas::open(nullptr);
  unsetenv("CUBLAS_ON_HOST_FAILS");
  ASSERT_NE(cublas, nullptr);
  std::array<float, 2> product{};
  EXPECT_THAT([&] { cublas->multiply(two_by_one, matrix.data(), vector.data(), product.data()); },
              ThrowsMessage<BackendError>(
                  HasSubstr("matrices cannot be multiplied: cublasCreate: cuBLAS fails with status 3")));
}

}  // namespace
}  // namespace trigram::cuda
