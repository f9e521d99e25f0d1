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

/// The last token of a sequence of 32, with one head of one element: a lane of a warp has a term of each sum.
struct LastToken {
  static constexpr std::int64_t tokens = 32;
  TestDevice device;
  AppliedOperation attention{device, "causal_attention", {{{1, tokens, 3}}}};

  /// What it makes of the weights where its query is 1 and keys are these.
  std::vector<float> weights(const std::vector<float>& keys) {
    std::vector<float> projected(3 * tokens);
    projected[3 * (tokens - 1)] = 1;
    for (std::size_t j = 0; j < keys.size(); ++j) projected[3 * j + 1] = keys[j];
    const OwnedBuffer x = device.hold(projected), y = device.hold(std::vector<float>(tokens)),
                      saved = device.hold(std::vector<float>(tokens * tokens));
    attention.forward(device, {{x}, {y}, {saved}, device.allocate(attention.scratch())});
    const std::vector<float> all = device.values(saved);
    return {all.end() - tokens, all.end()};
  }
  /// The gradient of its query, of these weights and values, where its output's is 1 and the key of one token alone.
  float slope(const std::vector<float>& weights, const std::vector<float>& values, std::size_t token) {
    std::vector<float> projected(3 * tokens), saved(tokens * tokens), above(tokens);
    for (std::size_t j = 0; j < values.size(); ++j) projected[3 * j + 2] = values[j];
    projected[3 * token + 1] = above.back() = 1;
    std::copy(weights.begin(), weights.end(), saved.end() - tokens);
    const OwnedBuffer below = device.hold(projected);
    const OwnedBuffer y = device.hold(above), w = device.hold(saved);
    attention.backward(device,
                       {{device.hold(projected)}, {y}, {w}, {y}, {below}, device.allocate(attention.scratch())});
    return device.values(below)[3 * (tokens - 1)];
  }
};

// However an exponential is rounded, it is the same for equal scores, and all weights together are 1.
TEST(CausalAttention, WeightsAddUpToOneWhateverLanesHoldThem) {
  LastToken last;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    std::vector<float> keys = random_vector(LastToken::tokens, seed);
    for (float& key : keys) key = key < 0 ? -5.5F - 0.01F * static_cast<float>(seed) : 0.0F;
    keys.back() = 0;
    double sum = 0;
    const std::vector<float> weights = last.weights(keys);
    for (std::size_t j = 0; j < keys.size(); ++j) {
      sum += static_cast<double>(weights[j]);
      if (keys[j] < 0) continue;
      EXPECT_EQ(weights[j], weights.back()) << "token " << j << ", seed " << seed;
    }
    EXPECT_NEAR(sum, 1, 0x1p-23) << "seed " << seed;
  }
}

// Products of which all but their last bits cancel: what is left of their sum is what the token without a value gets.
TEST(CausalAttention, SlopesKeepTheLastBitsOfASum) {
  LastToken last;
  for (const std::size_t token : {std::size_t{0}, std::size_t{31}}) {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      std::vector<float> weights = random_vector(LastToken::tokens, seed),
                         values = random_vector(LastToken::tokens, 99);
      double sum = 0;
      weights[7] = 1;
      values[7] = values[token] = 0;
      const auto add = [&](std::size_t j) { sum += static_cast<double>(weights[j]) * static_cast<double>(values[j]); };
      for (std::size_t j = 0; j < weights.size(); ++j) add(j);
      values[7] = -static_cast<float>(sum);
      add(7);
      const double expected = -static_cast<double>(weights[token]) * sum;
      EXPECT_NEAR(last.slope(weights, values, token), expected, 1e-6 * std::abs(expected)) << "seed " << seed;
    }
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
