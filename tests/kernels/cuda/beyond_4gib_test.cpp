// Elements whose place does not fit into 32 bits, in numbers and in bytes. Skipped where the device has too little
// memory.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "core/device/codec.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::beyond_4gib_test {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr std::int64_t tail = 4133;

class Beyond4GiB : public ::testing::Test {
 protected:
  void need(std::int64_t gibibytes) {
    std::size_t free = 0, total = 0;
    const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
    if (!known || static_cast<std::int64_t>(free) < gibibytes * gib)
      GTEST_SKIP() << "needs " << gibibytes << " GiB of device memory, of which " << free / gib << " are free";
  }
  Buffer last(const OwnedBuffer& x) const { return x.view().slice(x.view().count() - tail, tail); }
  template <class T>
  std::vector<T> read(const Buffer& x) {
    return on_host<T>(device_, x);
  }

  TestDevice device_;
};

TEST_F(Beyond4GiB, BytesAreFilledCopiedAndAdded) {
  need(10);
  if (IsSkipped()) return;
  const std::int64_t count = 4 * gib + tail;
  const OwnedBuffer x = device_.allocate(Shape::of(count, DType::u8));
  const OwnedBuffer y = device_.allocate(Shape::of(count, DType::u8));
  device_.fill(x, 3);
  device_.fill(last(x), 5);
  device_.copy(x, y);
  device_.reduce(ReduceOp::sum, x, y);
  EXPECT_EQ(read<std::uint8_t>(last(y)), std::vector<std::uint8_t>(tail, 10));
  EXPECT_EQ(read<std::uint8_t>(y.view().slice(0, tail)), std::vector<std::uint8_t>(tail, 6));
  EXPECT_EQ(read<std::uint8_t>(y.view().slice(count - 2 * tail, tail)), std::vector<std::uint8_t>(tail, 6));
}

// Zeros but for 0, 1, … at the end, where codes round to steps of at most 4132/255 = 16.2.
TEST_F(Beyond4GiB, FloatsAreAddedAndComeBackFromFrames) {
  need(12);
  if (IsSkipped()) return;
  const std::int64_t count = gib + tail;
  const OwnedBuffer x = device_.allocate(Shape::of(count, DType::f32));
  device_.fill(x, 0);
  std::vector<float> ramp;
  for (std::int64_t i = 0; i < tail; ++i) ramp.push_back(static_cast<float>(i));
  device_.upload(std::as_bytes(std::span(ramp)), last(x));
  const OwnedBuffer y = device_.allocate(Shape::of(count, DType::f32));
  device_.fill(y, 1);
  device_.axpby(2, x, 1, y);
  const std::vector<float> sums = read<float>(last(y));
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 2 * ramp[i] + 1);
  const auto codec = device_.make_codec("minmax_uint8");
  const OwnedBuffer frame = device_.allocate(codec->encoded_shape(x.view().shape()));
  codec->encode(device_, x, frame, {});
  codec->decode(device_, frame, y, {});
  const std::vector<float> decoded = read<float>(last(y));
  for (std::size_t i = 0; i < decoded.size(); ++i) ASSERT_NEAR(decoded[i], ramp[i], 8.2);
}

}  // namespace
}  // namespace trigram::beyond_4gib_test
