// Operations over images, batch norm, bias of channels, pooling: known values, definitions in double, the host's bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/conformance/operation_check.hpp"
#include "core/step/operation.hpp"
#include "core/values/error.hpp"
#include "tests/kernels/shape_refusal.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::images_test {
namespace {

using Floats = std::vector<float>;
using ::testing::HasSubstr;

/// Everything that one forward and one backward write.
struct Called {
  Floats out, saved;
  std::vector<std::int32_t> places;  ///< of a pooling
  std::vector<Floats> slopes;        ///< of the inputs that have a gradient of their own

  Called(TestDevice& device, const std::string& spec, const TensorShapes& shapes, const std::vector<Floats>& values,
         const Floats& above) {
    const AppliedOperation applied(device, spec, shapes);
    std::vector<OwnedBuffer> inputs, saved_memory, slope_memory;
    for (const Floats& value : values) inputs.push_back(device.hold(value));
    const OwnedBuffer result = room(device, applied.outputs()[0]), slope = device.hold(above);
    for (const TensorShape& shape : applied.saved()) saved_memory.push_back(room(device, shape));
    const std::vector<Buffer> given(inputs.begin(), inputs.end()), kept(saved_memory.begin(), saved_memory.end());
    applied.forward(device, {given, {result}, kept, {}});
    out = device.values(result);
    for (const Buffer& tensor : kept) {
      if (tensor.dtype() == DType::i32) places = device.values<std::int32_t>(tensor);
      if (tensor.dtype() != DType::f32) continue;
      const Floats more = device.values(tensor);
      saved.insert(saved.end(), more.begin(), more.end());
    }
    std::vector<Buffer> wanted(shapes.size());
    const auto named = device.make_operation(spec)->inputs();
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (named[i].gradient != InputGradient::computed) continue;
      slope_memory.push_back(room(device, shapes[i]));
      wanted[i] = slope_memory.back();
    }
    applied.backward(device, {given, {result}, kept, {slope}, wanted, {}});
    for (const OwnedBuffer& memory : slope_memory) slopes.push_back(device.values(memory));
  }

  static OwnedBuffer room(TestDevice& device, const TensorShape& shape) {
    return device.allocate(Shape::of(shape.count(), shape.dtype));
  }
};

class Images : public ::testing::Test {
 protected:
  TestDevice tested_;
  TestDevice plain_{Instructions::portable};
};

TEST_F(Images, HoldWhatTheyDeclareWithOtherParameters) {
  for (const char* spec :
       {"batch_norm:epsilon=0.25", "max_pool:size=3", "max_pool:size=3,stride=2", "max_pool:stride=1"}) {
    for (const TriedOperation& tried : try_operation(spec, tested_))
      EXPECT_EQ(text_of(tried.violations, "  "), "") << spec;
  }
}

// Channel 0 holds 1 3 5 7 in two samples: mean 4, variance 5. Channel 1 is constant.
TEST_F(Images, BatchNormOfKnownValues) {
  const TensorShapes shapes{{{2, 2, 2}}, {{2}}, {{2}}};
  const Called norm(tested_, "batch_norm:epsilon=0", {{{2, 1, 2}}, {{1}}, {{1}}}, {{1, 3, 5, 7}, {2}, {1}},
                    {1, 0, 0, 0});
  const double a = 1 / std::sqrt(5.0);
  const std::vector<double> expected = {1 - 6 * a, 1 - 2 * a, 1 + 2 * a, 1 + 6 * a};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(norm.out[i], expected[i], 1e-6) << i;
  EXPECT_EQ(norm.saved, (Floats{4, static_cast<float>(a)}));
  // ∂x = 2a·(∂y − 1/4 − x̂·(−3a)/4) with x̂ = a·(−3, −1, 1, 3); ∂gain = −3a, ∂shift = 1.
  const std::vector<double> slopes = {2 * a * (0.75 - 9 * a * a / 4), 2 * a * (-0.25 - 3 * a * a / 4),
                                      2 * a * (-0.25 + 3 * a * a / 4), 2 * a * (-0.25 + 9 * a * a / 4)};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(norm.slopes[0][i], slopes[i], 1e-6) << i;
  EXPECT_NEAR(norm.slopes[1][0], -3 * a, 1e-6);
  EXPECT_EQ(norm.slopes[2], Floats{1});
  const Called constant(tested_, "batch_norm", shapes, {{1, 3, 9, 9, 5, 7, 9, 9}, {1, 1}, {0, 0.5F}}, Floats(8));
  EXPECT_EQ(constant.out[2], 0.5F) << "a constant channel is its shift";
}

TEST_F(Images, FrozenStatisticsOfABatchGiveItsBits) {
  const TensorShape images{{5, 3, 4, 7}}, channel{{3}};
  const Floats x = random_vector(images.count(), 1), gain = random_vector(3, 2), shift = random_vector(3, 3);
  const Called norm(tested_, "batch_norm", {images, channel, channel}, {x, gain, shift}, x);
  const Floats means(norm.saved.begin(), norm.saved.begin() + 3), scales(norm.saved.begin() + 3, norm.saved.end());
  const Called frozen(tested_, "frozen_batch_norm", {images, channel, channel, channel, channel},
                      {x, gain, shift, means, scales}, x);
  EXPECT_EQ(frozen.out, norm.out);
}

// The first of equal ones; a NaN over all; the last row and column of an odd image belong to no window.
TEST_F(Images, MaxPoolOfKnownValues) {
  const float nan = std::nanf("");
  const Called pool(tested_, "max_pool", {{{1, 1, 3, 5}}}, {{5, 5, -3, -1, 9, 5, 1, -2, nan, 9, 9, 9, 9, 9, 9}},
                    {2, 3});
  EXPECT_EQ(pool.out[0], 5);
  EXPECT_TRUE(std::isnan(pool.out[1]));
  EXPECT_EQ(pool.places, (std::vector<std::int32_t>{0, 8}));
  EXPECT_EQ(pool.slopes[0], (Floats{2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0}));
  const Called overlapping(tested_, "max_pool:size=2,stride=1", {{{1, 1, 2, 3}}}, {{0, 7, 1, 2, 3, 4}}, {1, 10});
  EXPECT_EQ(overlapping.out, (Floats{7, 7}));
  EXPECT_EQ(overlapping.slopes[0], (Floats{0, 11, 0, 0, 0, 0}));
}

TEST_F(Images, HaveTheHostsBits) {
  for (const Dimensions& dimensions : {Dimensions{1, 1, 3, 3}, {3, 2, 5, 4}, {9, 5, 33, 7}, {17, 40, 6, 6}}) {
    const TensorShape images{dimensions}, channel{{dimensions[1]}};
    Floats x = random_vector(images.count(), 1);
    for (std::size_t i = 0; i < x.size(); i += 5) x[i] = std::round(4 * x[i]);  // ties
    const Floats terms = random_vector(dimensions[1], 2), gain = random_vector(dimensions[1], 3);
    for (const std::string spec : {"channel_bias", "batch_norm", "max_pool", "max_pool:size=3,stride=1"}) {
      TensorShapes shapes{images};
      std::vector<Floats> values{x};
      if (!spec.starts_with("max_pool")) shapes.push_back(channel), values.push_back(terms);
      if (spec == "batch_norm") shapes.push_back(channel), values.push_back(gain);
      const Floats above = random_vector(AppliedOperation(tested_, spec, shapes).outputs()[0].count(), 7);
      const Called got(tested_, spec, shapes, values, above), expected(plain_, spec, shapes, values, above);
      EXPECT_EQ(got.out, expected.out) << spec << " on " << images.text();
      EXPECT_EQ(got.saved, expected.saved) << spec << " on " << images.text();
      EXPECT_EQ(got.places, expected.places) << spec << " on " << images.text();
      EXPECT_EQ(got.slopes, expected.slopes) << spec << " on " << images.text();
    }
  }
}

TEST(ImageShapes, ThatDoNotFitAreRefusedByName) {
  EXPECT_EQ(refusal("batch_norm", {{{2, 3, 4, 4}}, {{3}}, {{4}}}),
            "operation 'batch_norm' on images [2, 3, 4, 4] of f32 and gain [3] of f32 and shift [4] of f32: gain and "
            "shift must have one dimension, one value a channel");
  EXPECT_THAT(refusal("channel_bias", {{{4}}, {{4}}}), HasSubstr("images must be [samples, channels, …]"));
  EXPECT_THAT(refusal("channel_bias", {{{4, 2, 0}}, {{2}}}), HasSubstr("images must have channels, and these places"));
  EXPECT_THAT(refusal("max_pool:size=3", {{{1, 1, 2, 9}}}), HasSubstr("a window of 3 is larger than the image"));
  EXPECT_THAT(refusal("max_pool", {{{1, 2, 9}}}), HasSubstr("images must be [samples, channels, height, width]"));
}

}  // namespace
}  // namespace trigram::images_test
