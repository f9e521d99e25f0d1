// Vectors so large that blocks leave more to each other than a block has threads, beside the plain host or a sum that
// is known. They take seconds each, and no part of the basis has them.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/cuda/on_ptx/new_device.hpp"

namespace trigram::on_ptx {
namespace {

class ManyElements : public testing::Test {
 protected:
  NewDevice device_;
};

/// Of which the first level of the tree of sums has a term for each thread of a block: 8 blocks of 4096 terms are one,
/// 8 of those another.
constexpr std::int64_t of_256_sums = std::int64_t{256} * 8 * 8 * 4096;

TEST_F(ManyElements, OfProducts) {
  const OwnedBuffer x = device_.allocate(Shape::of(of_256_sums, DType::f32)),
                    result = device_.hold<float>({0}, DType::f32);
  device_.fill(x, 0.5);
  device_.dot(x, x, result);
  EXPECT_EQ(device_.values<float>(result)[0], 0x1p24F);
}

TEST_F(ManyElements, OfAColumn) {
  const OwnedBuffer x = device_.allocate(Shape::of(of_256_sums, DType::f32));
  device_.fill(x, 0.5);
  device_.orthonormalise(std::vector<TallMatrix>{{x, 1, 1}});
  EXPECT_EQ(device_.values<float>(x.view().slice(of_256_sums - 1, 1))[0], 0x1p-13F);
}

/// So many blocks of 4096 terms that the count of them has all of its lower 16 bits.
TEST_F(ManyElements, OfALine) {
  constexpr std::int64_t blocks = 65535;
  const OwnedBuffer x = device_.allocate(Shape::of(blocks * 4096, DType::f32)),
                    norm = device_.hold<float>({0}, DType::f32);
  device_.fill(x, 1);
  device_.norms(Lines::rows, x, norm);
  EXPECT_EQ(device_.values<float>(norm)[0], std::sqrt(static_cast<float>(blocks * 4096)));
}

/// A block reads what so many blocks before it found: three rounds of its threads.
TEST_F(ManyElements, OfBlocksThatKeepTheLargest) {
  constexpr std::int64_t a_block = 248 * 128, blocks = 3 * 128 + 1;
  const ResidentBlocks resident(1056);
  std::vector<float> vector(static_cast<std::size_t>(blocks * a_block));
  for (std::size_t i = 0; i < vector.size(); i += a_block) vector[i] = 1;
  TestDevice plain(Instructions::portable);
  const std::string spec = "top_k:k=385";
  EXPECT_EQ(device_.encode(*device_.make_codec(spec), vector), plain.encode(*plain.make_codec(spec), vector));
}

}  // namespace
}  // namespace trigram::on_ptx
