// What an exchange writes whole before it reads it is not filled with zeros first, at every exchange anew.
#include <gtest/gtest.h>

#include "core/primitives/decentralized.hpp"
#include "core/primitives/frames.hpp"
#include "kernels/cpu/kernels.hpp"
#include "tests/support/lone_rank.hpp"

namespace trigram {
namespace {

/// Counts allocations by kind.
class CountingKernels final : public CpuKernels {
 public:
  CountingKernels() : CpuKernels(Instructions::portable) {}
  void* allocate(std::size_t bytes) override {
    ++filled;
    return CpuKernels::allocate(bytes);
  }
  void* allocate_unfilled(std::size_t bytes) override {
    ++unfilled;
    return CpuKernels::allocate_unfilled(bytes);
  }
  int filled = 0, unfilled = 0;
};

class UnfilledMemory : public ::testing::Test {
 protected:
  static constexpr int ranks = 3;
  std::shared_ptr<CountingKernels> kernels_ = std::make_shared<CountingKernels>();
  testing::LoneRank runtime_{0, ranks, [&](Timeline& timeline) { return std::make_unique<Device>(kernels_, timeline); },
                             testing::Messages::are_lost};
  Worker worker_{runtime_, 0, {}};
};

TEST_F(UnfilledMemory, HoldsFrames) {
  const auto codec = worker_.device.make_codec("minmax_uint8");
  const std::vector<Shape> vectors(ranks, Shape::of(100, DType::f32));
  const Frames frames(worker_.device, *codec, vectors);
  EXPECT_EQ(kernels_->filled, 0);
  EXPECT_EQ(kernels_->unfilled, 1);
}

TEST_F(UnfilledMemory, HoldsWhatNeighboursSend) {
  const OwnedBuffer x = worker_.device.allocate(Shape::of(100, DType::f32));
  kernels_->filled = kernels_->unfilled = 0;
  const auto ring = make_topology("ring", ranks);
  // What goes nowhere leaves whatever memory held; the mix of it is not looked at.
  decentralized_full_precision(worker_, *ring, 0, x);
  EXPECT_EQ(kernels_->filled, 0);
  EXPECT_EQ(kernels_->unfilled, ranks - 1);
}

}  // namespace
}  // namespace trigram
