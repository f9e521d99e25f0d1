// Causal attention: beside its definition in double, and with heads beside what it declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/conformance/operation_check.hpp"
#include "core/step/operation.hpp"
#include "core/values/error.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::causal_attention_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Sizes {
  std::int64_t sequences, tokens, heads, size;
  std::int64_t width() const { return heads * size; }
};

/// Outputs, and the gradient of the projected rows, by the definition: no token sees a later one.
struct Direct {
  std::vector<double> out, below;

  Direct(const Sizes& of, const std::vector<float>& projected, const std::vector<float>& above)
      : out(above.size()), below(projected.size()) {
    for (std::int64_t s = 0; s < of.sequences; ++s)
      for (std::int64_t h = 0; h < of.heads; ++h)
        for (std::int64_t i = 0; i < of.tokens; ++i) token(of, s * of.tokens, h * of.size, i, projected, above);
  }

 private:
  void token(const Sizes& of, std::int64_t first, std::int64_t column, std::int64_t i,
             const std::vector<float>& projected, const std::vector<float>& above) {
    const double scale = 1 / std::sqrt(static_cast<double>(of.size));
    const auto place = [&](std::int64_t token, std::int64_t part, std::int64_t d) {
      return static_cast<std::size_t>((first + token) * 3 * of.width() + part * of.width() + column + d);
    };
    const auto place_out = [&](std::int64_t d) {
      return static_cast<std::size_t>((first + i) * of.width() + column + d);
    };
    const auto value = [&](std::int64_t token, std::int64_t part, std::int64_t d) {
      return static_cast<double>(projected[place(token, part, d)]);
    };
    std::vector<double> weights, slopes;
    double sum = 0, along = 0;
    for (std::int64_t j = 0; j <= i; ++j) {
      double score = 0, slope = 0;
      for (std::int64_t d = 0; d < of.size; ++d) {
        score += value(i, 0, d) * value(j, 1, d);
        slope += static_cast<double>(above[place_out(d)]) * value(j, 2, d);
      }
      weights.push_back(std::exp(score * scale));
      slopes.push_back(slope);
      sum += weights.back();
    }
    for (std::size_t j = 0; j < weights.size(); ++j) along += (weights[j] /= sum) * slopes[j];
    for (std::int64_t j = 0; j <= i; ++j) {
      const double weight = weights[static_cast<std::size_t>(j)];
      const double slope = weight * (slopes[static_cast<std::size_t>(j)] - along) * scale;
      for (std::int64_t d = 0; d < of.size; ++d) {
        out[place_out(d)] += weight * value(j, 2, d);
        below[place(i, 0, d)] += slope * value(j, 1, d);
        below[place(j, 1, d)] += slope * value(i, 0, d);
        below[place(j, 2, d)] += weight * static_cast<double>(above[place_out(d)]);
      }
    }
  }
};

void expect_near(const std::vector<float>& got, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-6 * largest) << what << " " << i;
}

TEST(CausalAttention, IsItsDefinition) {
  TestDevice device;
  for (const Sizes of : {Sizes{2, 7, 3, 4}, {1, 1, 1, 1}, {3, 33, 2, 5}, {1, 65, 1, 40}, {2, 2, 6, 1}}) {
    const TensorShapes shapes{{{of.sequences, of.tokens, 3 * of.width()}}};
    const AppliedOperation attention(device, "causal_attention:heads=" + std::to_string(of.heads), shapes);
    const std::vector<float> projected = random_vector(shapes[0].count(), 1);
    const std::vector<float> above = random_vector(attention.outputs().at(0).count(), 2);
    const OwnedBuffer x = device.hold(projected), slope = device.hold(above);
    const auto room = [&](std::int64_t count) { return device.allocate(Shape::of(count, DType::f32)); };
    const OwnedBuffer y = room(attention.outputs()[0].count()), weights = room(attention.saved().at(0).count());
    const OwnedBuffer below = room(shapes[0].count()), scratch = device.allocate(attention.scratch());
    attention.forward(device, {{x}, {y}, {weights}, scratch});
    attention.backward(device, {{x}, {y}, {weights}, {slope}, {below}, scratch});
    const Direct direct(of, projected, above);
    expect_near(device.values(y), direct.out, "output");
    expect_near(device.values(below), direct.below, "gradient");
  }
}

TEST(CausalAttention, HoldsWhatItDeclaresWithHeads) {
  TestDevice device;
  for (const TriedOperation& tried : try_operation("causal_attention:heads=3", device))
    EXPECT_EQ(text_of(tried.violations, "  "), "") << tried.inputs;
}

// Scores of 1e4 and their opposites: the token that is looked at has the whole weight.
TEST(CausalAttention, OverflowsNoExponential) {
  TestDevice device;
  const AppliedOperation attention(device, "causal_attention", {{{1, 2, 3}}});
  const OwnedBuffer x = device.hold({100, -100, 5, 100, 100, 7}), y = device.hold({0, 0}),
                    weights = device.hold({9, 9, 9, 9}), scratch = device.hold({0, 0, 0, 0});
  attention.forward(device, {{x}, {y}, {weights}, scratch});
  EXPECT_EQ(device.values(y), (std::vector<float>{5, 7}));
  EXPECT_EQ(device.values(weights), (std::vector<float>{1, 0, 0, 1}));
}

TEST(CausalAttention, RefusesWhatDoesNotFit) {
  const auto applied = [](const char* spec, const Dimensions& projected) {
    return [=] { const AppliedOperation made(spec, {{projected}}); };
  };
  EXPECT_THAT(applied("causal_attention:heads=5", {2, 3, 36}),
              ThrowsMessage<UsageError>(HasSubstr("a width of 12 cannot be cut into 5 heads")));
  EXPECT_THAT(applied("causal_attention", {2, 3, 35}),
              ThrowsMessage<UsageError>(HasSubstr("[sequences, tokens, 3·width]")));
  EXPECT_THAT(applied("causal_attention", {6, 36}),
              ThrowsMessage<UsageError>(HasSubstr("[sequences, tokens, 3·width]")));
}

}  // namespace
}  // namespace trigram::causal_attention_test
