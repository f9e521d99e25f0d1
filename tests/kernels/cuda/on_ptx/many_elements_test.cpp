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

  void expect_same_frame(const std::string& spec, const std::vector<float>& vector) {
    TestDevice plain(Instructions::portable);
    EXPECT_TRUE(device_.encode(*device_.make_codec(spec), vector) == plain.encode(*plain.make_codec(spec), vector))
        << spec << " of " << vector.size();
  }
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

class ManyElementsOfCodecs : public ManyElements, public testing::WithParamInterface<const char*> {};

TEST_P(ManyElementsOfCodecs, AreAddedUp) { expect_same_frame(GetParam(), std::vector<float>(of_256_sums, 0.5F)); }

INSTANTIATE_TEST_SUITE_P(All, ManyElementsOfCodecs,
                         testing::Values("one_bit", "two_means", "qsgd:bucket_size=0,levels=1",
                                         "qsgd:bucket_size=0,levels=1,norm=2"));

/// A block reads what so many blocks before it found: three rounds of its threads.
TEST_F(ManyElements, OfBlocksThatKeepTheLargest) {
  constexpr std::int64_t a_block = 248 * 128, blocks = 3 * 128 + 1;
  const ResidentBlocks resident(1056);
  std::vector<float> vector(static_cast<std::size_t>(blocks * a_block));
  for (std::size_t i = 0; i < vector.size(); i += a_block) vector[i] = 1;
  expect_same_frame("top_k:k=385", vector);
}

}  // namespace
}  // namespace trigram::on_ptx
