// Phantom buffers cost time by their modelled size and move no byte.
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

class Phantoms : public testing::Test {
 protected:
  TestDevice device_;
  OwnedBuffer phantom(std::int64_t count, DType dtype = DType::f32) {
    return device_.allocate({count, dtype, count, true});
  }
};

/// 2^40 elements would need 4 TiB each: nothing is touched, or this dies.
TEST_F(Phantoms, EveryOperationChargesItsBytesAndTouchesNothing) {
  const std::int64_t n = std::int64_t{1} << 40U;
  const auto b = 4.0 * static_cast<double>(n);
  const OwnedBuffer x = phantom(n), y = phantom(n), z = phantom(n), w = phantom(n);
  device_.upload({}, x);
  EXPECT_TRUE(device_.spent.empty());
  const auto expect = [this](double bytes) {
    ASSERT_EQ(device_.spent.size(), 1U);
    EXPECT_EQ(device_.spent[0].bytes, bytes);
    device_.spent.clear();
  };
  device_.copy(x, y), expect(2 * b);
  device_.fill(x, 1), expect(b);
  device_.fill_normal(x, {}), expect(b);
  device_.scale(x, 2), expect(2 * b);
  device_.axpby(1, x, 1, y), expect(3 * b);
  device_.multiply(x, y), expect(3 * b);
  device_.divide(phantom(1), y), expect(2 * b + 4);
  device_.root(x), expect(2 * b);
  device_.add_scaled(phantom(1), x, y), expect(3 * b);
  device_.reduce(ReduceOp::sum, x, y), expect(3 * b);
  device_.weighted_sum(std::vector<Buffer>{x, y}, std::vector<float>{1, 1}, z), expect(3 * b);
  device_.convert(x, phantom(n, DType::f16)), expect(1.5 * b);
  device_.dot(x, y, phantom(1)), expect(2 * b + 4);
  device_.norms(Lines::rows, x, phantom(64)), expect(b + 4 * 64);
  device_.multiply_lines(Lines::columns, phantom(64), y), expect(2 * b + 4 * 64);
  device_.divide_lines(Lines::rows, phantom(64), y), expect(2 * b + 4 * 64);
  device_.sgd({x, y, {}}, {}), expect(3 * b);
  device_.sgd({x, y, z}, {.momentum = 0.9F}), expect(5 * b);
  device_.adam({x, y, z, w}, {}), expect(7 * b);
}

TEST_F(Phantoms, AMatrixProductChargesItsFlops) {
  device_.gemm({100, 200, 300, false, false, 1.0F, 0.0F}, phantom(30000), phantom(60000), phantom(20000));
  ASSERT_EQ(device_.spent.size(), 1U);
  EXPECT_EQ(device_.spent[0].flops, 2.0 * 100 * 200 * 300);
  EXPECT_EQ(device_.spent[0].bytes, 4.0 * (30000 + 60000 + 20000));
}

TEST_F(Phantoms, OrthonormalColumnsChargeTheModelledOnes) {
  const OwnedBuffer real = device_.allocate({0, DType::f32, 300, false});
  device_.orthonormalise(std::vector<TallMatrix>{{phantom(4000), 0, 4}, {real, 0, 3}});
  ASSERT_EQ(device_.spent.size(), 1U) << "one launch";
  EXPECT_EQ(device_.spent[0].flops, 4000.0 * (4 * 4 + 1) + 300 * (4 * 3 + 1));
  EXPECT_EQ(device_.spent[0].bytes, 2 * 4.0 * 4300);
}

TEST_F(Phantoms, AMatrixProductOfModelledSizesChargesTheirFlops) {
  const auto modelled = [&](std::int64_t count, std::int64_t as_many) {
    return device_.allocate({count, DType::f32, as_many, false});
  };
  // 2x3 times 3x4 stands for 100x300 times 300x200.
  device_.gemm({2, 4, 3, false, false, 1.0F, 0.0F}, modelled(6, 30000), modelled(12, 60000), modelled(8, 20000));
  ASSERT_EQ(device_.spent.size(), 1U);
  EXPECT_DOUBLE_EQ(device_.spent[0].flops, 2.0 * 100 * 200 * 300);
  EXPECT_EQ(device_.spent[0].bytes, 4.0 * (30000 + 60000 + 20000));
}

TEST_F(Phantoms, CannotBeDownloaded) {
  std::vector<std::byte> host(4);
  EXPECT_THROW(device_.download(phantom(1), host), Error);
}

TEST_F(Phantoms, AModelledSizeIsWhatCosts) {
  const OwnedBuffer x = device_.allocate({3, DType::f32, 3000, false});
  device_.fill(x, 5);
  EXPECT_EQ(device_.spent.at(0).bytes, 12000.0);
  EXPECT_EQ(device_.values(x), std::vector<float>(3, 5.0F));
}

TEST_F(Phantoms, UnchargedOperationsCostNothing) {
  {
    const Device::Uncharged uncharged(device_);
    device_.fill(phantom(10), 1);
    device_.charge_seconds(1);
  }
  EXPECT_TRUE(device_.spent.empty());
  device_.fill(phantom(10), 1);
  EXPECT_EQ(device_.spent.size(), 1U);
}

}  // namespace
}  // namespace trigram
