// What an exchange writes whole before it reads it is not filled with zeros first, at every exchange anew.
#include <gtest/gtest.h>

#include "core/primitives/decentralized.hpp"
#include "core/primitives/frames.hpp"
#include "kernels/cpu/kernels.hpp"

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

/// Rank 0 of a group whose messages go nowhere.
class Nowhere final : public Communicator {
 public:
  Nowhere(int size, Device& device) : size_(size), device_(device) {}
  int rank() const override { return 0; }
  int size() const override { return size_; }
  Device& device() override { return device_; }
  void exchange(std::span<const Transfer>) override {}
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }

 private:
  int size_;
  Device& device_;
};

/// One lane of such a rank.
class OneLane final : public RankRuntime {
 public:
  OneLane(int size, std::shared_ptr<Kernels> kernels)
      : lane_(
            0, [] { return 0.0; }, false) {
    lane_.device = std::make_unique<Device>(std::move(kernels), lane_.timeline);
    for (auto* comm : {&lane_.comm, &lane_.node, &lane_.leaders})
      *comm = std::make_unique<Nowhere>(size, *lane_.device);
  }
  int lanes() const override { return 1; }
  Lane& lane(int) override { return lane_; }
  double now() const override { return 0; }
  Pending launch(int, std::function<void()> body) override {
    body();
    return {};
  }
  std::int64_t agree(std::int64_t value, ReduceOp) override { return value; }
  void collect(std::int64_t, std::vector<std::byte>, const std::function<void(Parts)>&) override {}

 private:
  Lane lane_;
};

class UnfilledMemory : public ::testing::Test {
 protected:
  static constexpr int ranks = 3;
  std::shared_ptr<CountingKernels> kernels_ = std::make_shared<CountingKernels>();
  OneLane runtime_{ranks, kernels_};
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
