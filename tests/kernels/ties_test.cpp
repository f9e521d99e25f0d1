// What kernels decide where two values are equal, opposite, or at the end of a format's range, at every place of a row
// or a vector: a comparison that is wrong in one step of an unrolled loop shows there alone.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/operation.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::ties_test {
namespace {

using Floats = std::vector<float>;
constexpr float infinity = std::numeric_limits<float>::infinity();

class Ties : public ::testing::Test {
 protected:
  TestDevice tested_, plain_{Instructions::portable};

  template <class Label>
  std::int64_t correct(const Floats& logits, const std::vector<Label>& labels) {
    constexpr DType dtype = sizeof(Label) == 4 ? DType::i32 : DType::i64;
    const auto rows = static_cast<std::int64_t>(labels.size()), all = static_cast<std::int64_t>(logits.size());
    const OwnedBuffer count = tested_.allocate(Shape::of(1, DType::i64));
    AppliedOperation(tested_, "count_correct", {{{rows, all / rows}}, {{rows}, dtype}})
        .forward(tested_, {.inputs = {tested_.hold(logits), tested_.hold(labels, dtype)}, .outputs = {count}});
    return tested_.values<std::int64_t>(count)[0];
  }

  /// The frame that a server makes of these vectors' frames, on the device and on the plain host.
  void expect_same_server(const std::string& spec, const std::vector<Floats>& vectors) {
    const auto codec = tested_.make_codec(spec), reference = plain_.make_codec(spec);
    const auto served = [&](TestDevice& on, const Codec& by) {
      std::vector<OwnedBuffer> frames;
      std::vector<KeyedFrame> keyed;
      for (const Floats& vector : vectors) {
        frames.push_back(on.hold(plain_.encode(*reference, vector), DType::u8));
        keyed.push_back({frames.back(), {}});
      }
      const OwnedBuffer sum = on.hold(vectors[0]), out = on.hold(on.encode(by, vectors[0]), DType::u8);
      by.decode_reduce_encode(on, keyed, 1.0F / static_cast<float>(vectors.size()), sum, out, {});
      return on.values<std::uint8_t>(out);
    };
    EXPECT_EQ(served(tested_, *codec), served(plain_, *reference)) << spec;
  }
};

// Eleven steps of a warp: a loop that is unrolled by four takes each of its steps, and those that are left.
TEST_F(Ties, ALabelIsRightWhereverItsLogitIsTheFirstLargest) {
  constexpr std::size_t classes = 352;
  Floats alone(classes * classes), equal(classes * classes, 1.0F);
  std::vector<std::int32_t> labels;
  for (std::size_t label = 0; label < classes; ++label) {
    labels.push_back(static_cast<std::int32_t>(label));
    alone[label * classes + label] = 1;
  }
  const std::vector<std::int64_t> wide(labels.begin(), labels.end());
  EXPECT_EQ(correct(alone, labels), classes);
  EXPECT_EQ(correct(alone, wide), classes);
  EXPECT_EQ(correct(equal, labels), 1) << "the first of equal ones alone";
  EXPECT_EQ(correct(equal, wide), 1) << "the first of equal ones alone";
}

TEST_F(Ties, TheSmallerAndTheLargerOfTwoZerosIsTheOneThatWasThere) {
  for (const auto& [x, y] : {std::pair<std::uint32_t, std::uint32_t>(0, 0x80000000U), {0x80000000U, 0}}) {
    for (const std::int64_t count : {1, 1030}) {
      for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
        const auto elements = static_cast<std::size_t>(count);
        const OwnedBuffer wide = tested_.hold(std::vector<std::uint32_t>(elements, y), DType::f32);
        tested_.reduce(op, tested_.hold(std::vector<std::uint32_t>(elements, x), DType::f32), wide);
        EXPECT_EQ(tested_.values<std::uint32_t>(wide), std::vector<std::uint32_t>(elements, y));
        for (const DType dtype : {DType::f16, DType::bf16}) {
          const std::vector<std::uint16_t> from(elements, static_cast<std::uint16_t>(x >> 16U)),
              to(elements, static_cast<std::uint16_t>(y >> 16U));
          const OwnedBuffer half = tested_.hold(to, dtype);
          tested_.reduce(op, tested_.hold(from, dtype), half);
          EXPECT_EQ(tested_.values<std::uint16_t>(half), to);
        }
      }
    }
  }
}

TEST_F(Ties, InfinitiesOfHalvesStayInfinite) {
  const Floats infinite(1030, infinity), opposite(1030, -infinity);
  const auto codec = tested_.make_codec("fp16");
  EXPECT_EQ(tested_.round_trip(*codec, infinite), infinite);
  EXPECT_EQ(tested_.round_trip(*codec, opposite), opposite);
  expect_same_server("fp16", {infinite, infinite, Floats(1030, 1.0F)});
  const std::vector<std::uint16_t> half(1030, 0x7c00);
  const OwnedBuffer mean = tested_.hold(std::vector<std::uint16_t>(1030, 0x3c00), DType::f16),
                    widened = tested_.allocate(Shape::of(1030, DType::f32));
  tested_.reduce(ReduceOp::mean, tested_.hold(half, DType::f16), mean);
  EXPECT_EQ(tested_.values<std::uint16_t>(mean), half);
  tested_.convert(mean, widened);
  EXPECT_EQ(tested_.values(widened), infinite);
}

TEST_F(Ties, AServersSumOfZeroHasTheSignOfThePlainHost) {
  for (const std::int64_t count : {33, 1030, 4097}) {
    Floats vector = random_vector(count, 5), opposite = vector;
    for (float& value : opposite) value = -value;
    for (const char* const spec : {"one_bit", "sign", "two_means"}) expect_same_server(spec, {vector, opposite});
  }
}

TEST_F(Ties, LayerNormHasThePlainHostsBits) {
  constexpr std::int64_t rows = 70, width = 77;
  const auto normalised = [&](TestDevice& on) {
    const AppliedOperation norm(on, "layer_norm", {{{rows, width}}, {{width}}, {{width}}});
    const OwnedBuffer x = on.hold(random_vector(rows * width, 1)), gain = on.hold(random_vector(width, 2)),
                      shift = on.hold(random_vector(width, 3)), above = on.hold(random_vector(rows * width, 4)),
                      out = on.hold(Floats(rows * width)), below = on.hold(Floats(rows * width)),
                      means = on.hold(Floats(rows)), scales = on.hold(Floats(rows));
    norm.forward(on, {{x, gain, shift}, {out}, {means, scales}});
    norm.backward(on, {{x, gain, shift}, {out}, {means, scales}, {above}, {below, Buffer(), Buffer()}});
    return std::pair(on.values<std::uint32_t>(out), on.values<std::uint32_t>(below));
  };
  EXPECT_EQ(normalised(tested_), normalised(plain_));
}

}  // namespace
}  // namespace trigram::ties_test
