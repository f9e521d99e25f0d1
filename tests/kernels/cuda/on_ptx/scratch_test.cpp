// Sums in memory that is as large as they need and no larger: kernels that are new have kept none for what came before.
#include <gtest/gtest.h>

#include <cmath>

#include "core/step/operation.hpp"
#include "tests/kernels/cuda/on_ptx/new_device.hpp"

namespace trigram::on_ptx {
namespace {

// Of several partial sums, by one level of the tree and by two.
constexpr std::int64_t counts[] = {33000, 70000, 9 * 32768 + 1};

std::vector<float> halves(std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count), 0.5F); }

TEST(SumsInNewMemory, OfProductsStayInTheRoomThatTheyAskFor) {
  for (const std::int64_t count : counts) {
    NewDevice device;
    const OwnedBuffer x = device.hold(halves(count), DType::f32), result = device.hold<float>({0}, DType::f32);
    device.dot(x, x, result);
    EXPECT_EQ(device.values<float>(result)[0], 0.25F * static_cast<float>(count));
  }
}

TEST(SumsInNewMemory, OfColumnsStayInTheRoomThatTheyAskFor) {
  for (const std::int64_t count : {40000, 65536}) {
    NewDevice device;
    const OwnedBuffer x = device.hold(halves(count), DType::f32);
    device.orthonormalise(std::vector<TallMatrix>{{x, 1, 1}});
    EXPECT_NEAR(device.values<float>(x)[7], 1 / std::sqrt(static_cast<float>(count)), 1e-7F);
  }
}

TEST(SumsInNewMemory, OfLossesStayInTheRoomThatTheyAskFor) {
  constexpr std::int64_t rows = 33000;
  NewDevice device;
  const TensorShapes shapes{{{rows, 1}}, {{rows}, DType::i32}};
  const OwnedBuffer logits = device.hold(halves(rows), DType::f32), loss = device.hold<float>({7}, DType::f32),
                    labels = device.hold(std::vector<std::int32_t>(rows), DType::i32);
  AppliedOperation(device, "cross_entropy", shapes)
      .forward(device, {.inputs = {logits, labels}, .outputs = {loss}, .saved = {logits}});
  EXPECT_EQ(device.values<float>(loss)[0], 0.0F);
}

TEST(SumsInNewMemory, OfCodecsStayInTheRoomThatTheyAskFor) {
  for (const char* const spec :
       {"one_bit", "two_means", "qsgd:levels=3,bucket_size=0,norm=2", "qsgd:levels=3,bucket_size=0"}) {
    for (const std::int64_t count : counts) {
      NewDevice device;
      TestDevice plain(Instructions::portable);
      const std::vector<float> vector = random_vector(count, 5);
      EXPECT_EQ(device.encode(*device.make_codec(spec), vector), plain.encode(*plain.make_codec(spec), vector)) << spec;
    }
  }
}

}  // namespace
}  // namespace trigram::on_ptx
