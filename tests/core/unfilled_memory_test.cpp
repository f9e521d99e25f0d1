// What an exchange writes whole before it reads it is not filled with zeros first, at every exchange anew.
#include <gtest/gtest.h>

#include <array>

#include "core/compression/frames.hpp"
#include "core/conformance/lone_rank.hpp"
#include "core/primitives/decentralized.hpp"
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

class UnfilledMemory : public ::testing::Test {
 protected:
  static constexpr int ranks = 3;
  std::shared_ptr<CountingKernels> kernels_ = std::make_shared<CountingKernels>();
  LoneRank runtime_{0, ranks, [&](Timeline& timeline) { return std::make_unique<Device>(kernels_, timeline); },
                    Messages::are_lost};
  Worker worker_{runtime_, 0, {}};
};

TEST_F(UnfilledMemory, OfFramesIsAllocatedOnce) {
  const auto codec = worker_.device.make_codec("minmax_uint8");
  const std::vector<Shape> vectors(ranks, Shape::of(100, DType::f32));
  const std::vector<Shape> shorter(ranks, Shape::of(99, DType::f32));
  kernels_->filled = kernels_->unfilled = 0;
  const Frames first = Frames::row(worker_.comm, *codec, vectors);
  EXPECT_EQ(kernels_->filled, 1);
  const Frames second = Frames::row(worker_.comm, *codec, shorter);
  EXPECT_EQ(kernels_->filled, 1);
  EXPECT_EQ(first[0].raw(), second[0].raw());
}

TEST_F(UnfilledMemory, OfFramesHasEachWhereKernelsAndNetworksAreFast) {
  for (const char* spec : {"minmax_uint8", "qsgd", "one_bit", "fp16", "top_k:k=3"}) {
    const auto codec = worker_.device.make_codec(spec);
    const std::vector<Shape> odd{Shape::of(101, DType::f32), Shape::of(513, DType::f32), Shape::of(1, DType::f32)};
    const std::vector<Frames> rows = Frames::rows(worker_.comm, *codec, std::array<Frames::Vectors, 2>{odd, odd});
    const auto* begin = static_cast<const std::byte*>(rows[0][0].raw());
    std::int64_t end = 0;
    for (const Frames& row : rows) {
      for (int i = 0; i < static_cast<int>(odd.size()); ++i) {
        const std::int64_t offset = static_cast<const std::byte*>(row[i].raw()) - begin;
        EXPECT_EQ(offset % 256, 0) << spec;
        EXPECT_GE(offset, end) << spec;
        EXPECT_EQ(row[i].count(), codec->encoded_bytes(odd[static_cast<std::size_t>(i)].count)) << spec;
        end = offset + row[i].count();
      }
    }
  }
}

TEST_F(UnfilledMemory, ForWhatNeighboursSendIsAllocatedOnce) {
  const OwnedBuffer x = worker_.device.allocate(Shape::of(100, DType::f32));
  const OwnedBuffer shorter = worker_.device.allocate(Shape::of(99, DType::f32));
  kernels_->filled = kernels_->unfilled = 0;
  const auto ring = make_topology("ring", ranks);
  // What goes nowhere leaves whatever memory held; the mix of it is not looked at.
  decentralized_full_precision(worker_, *ring, 0, x);
  EXPECT_EQ(kernels_->filled, 1);
  const int unfilled = kernels_->unfilled;
  decentralized_full_precision(worker_, *ring, 1, shorter);
  EXPECT_EQ(kernels_->filled, 1);
  EXPECT_EQ(kernels_->unfilled, unfilled);
}

}  // namespace
}  // namespace trigram
