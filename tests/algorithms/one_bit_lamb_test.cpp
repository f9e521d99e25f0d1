// 1-bit LAMB beside the paper's formulas in double precision.
#include "tests/algorithms/recomputed.hpp"

namespace trigram::testing::one_bit_lamb_test {
namespace {

using namespace recomputed;

constexpr std::int64_t steps = 12, warmup = 4;
constexpr double beta1 = 0.9, beta2 = 0.8, beta3 = 0.5, epsilon = 1e-8, decay = 0.05, factor_step = 0.3;

struct Layer {
  std::size_t begin, end;
  double coefficient = 0, factor = 1, scale = 1;

  double norm(const Vector& x) const {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += x[i] * x[i];
    return std::sqrt(sum);
  }
};

/// All that ranks share: weights, moments and what layers keep.
struct Lamb {
  Vector x, m = Vector(elements, 0.0), v = m, fresh = m;
  std::vector<Layer> layers{{0, 3}, {3, 7}};

  Vector direction(bool with_weights) const {
    Vector u = m;
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = m[i] / (std::sqrt(v[i]) + epsilon) + (with_weights ? decay * x[i] : 0);
    return u;
  }
  void step(const Layer& layer, double coefficient, const Vector& u) {
    for (std::size_t i = layer.begin; i < layer.end; ++i) x[i] -= rate * coefficient * u[i];
  }

  void warm(const Vector& g) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    }
    const Vector u = direction(true);
    for (Layer& layer : layers) {
      const double c = std::clamp(layer.norm(x) / layer.norm(u), 0.01, 10.0);
      layer.coefficient = beta3 * layer.coefficient + (1 - beta3) * c;
      step(layer, c, u);
    }
    fresh = v;
    double mean = 0;
    const auto size = [&](const Layer& one) {
      return one.norm(m) / std::sqrt(static_cast<double>(one.end - one.begin));
    };
    for (const Layer& layer : layers) mean += size(layer) / static_cast<double>(layers.size());
    for (Layer& layer : layers) layer.scale = mean / size(layer);
  }

  void frozen(const Vector& averaged) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double g = (averaged[i] - beta1 * m[i]) / (1 - beta1);
      fresh[i] = beta2 * fresh[i] + (1 - beta2) * g * g;
    }
    m = averaged;
    const Vector own = direction(false), u = direction(true);
    for (Layer& layer : layers) {
      double r = 0;
      for (std::size_t i = layer.begin; i < layer.end; ++i)
        r = std::max(r, (std::sqrt(v[i]) + epsilon) / (std::sqrt(fresh[i]) + epsilon));
      const double share = std::min(1.0, layer.norm(own) / layer.norm(u));
      r = std::clamp(r * share + 1 - share, 0.5, 4.0);
      layer.factor = std::clamp(r, layer.factor * (1 - factor_step), layer.factor * (1 + factor_step));
      step(layer, layer.coefficient * layer.factor, u);
    }
  }

  /// x with each layer's elements times its scale, or divided by it.
  Vector scaled(Vector values, bool back) const {
    for (const Layer& layer : layers) {
      for (std::size_t i = layer.begin; i < layer.end; ++i) values[i] *= back ? 1 / layer.scale : layer.scale;
    }
    return values;
  }
};

Vectors recomputed_lamb(int ranks, const Compressor& compressor) {
  Lamb lamb;
  lamb.x = initial(1)[0];
  Vectors e = zeros(ranks);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors g = gradients(step, Vectors(static_cast<std::size_t>(ranks), lamb.x), true);
    if (step < warmup) {
      lamb.warm(averaged(g)[0]);
      continue;
    }
    Vectors p = combined(beta1, Vectors(g.size(), lamb.m), 1 - beta1, g);
    for (Vector& one : p) one = lamb.scaled(one, false);
    p = combined(1, p, 1, e);
    const Vectors sent = compressed(compressor, p);
    e = combined(1, p, -1, sent);
    lamb.frozen(lamb.scaled(averaged(sent)[0], true));
  }
  return Vectors(static_cast<std::size_t>(ranks), lamb.x);
}

class OneBitLamb : public ::testing::TestWithParam<int> {
 protected:
  static void expect(const std::string& codec, const Compressor& compressor) {
    play_rough(true, {3, 4});
    const std::string spec =
        "one_bit_lamb:warmup=4,beta2=0.8,beta3=0.5,weight_decay=0.05,factor_step=0.3,"
        "exchange=all_gather,codec=" +
        codec;
    expect_recomputed(trained(spec, GetParam(), steps), recomputed_lamb(GetParam(), compressor), spec, 1e-4);
  }
};

TEST_P(OneBitLamb, KeepsStepsOfLayersThatItsSecondMomentCorrects) {
  expect("identity", [](const Vector& x) { return x; });
}

TEST_P(OneBitLamb, SendsSignsOfMomentumsThatAreAsLargeInAllLayers) { expect("one_bit", scaled_sign); }

INSTANTIATE_TEST_SUITE_P(Worlds, OneBitLamb, ::testing::Values(2, 3, 4));

TEST(OneBitLambOfNothing, LeavesAloneWhatNeverHadAGradient) {
  // A layer of zeros without gradients beside one with some, and an element without gradients in that.
  Script script;
  script.layers = {3, 4};
  script.initial = [](std::int64_t element) { return element < 3 ? 0.0F : static_cast<float>(element); };
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float) {
    return element < 4 ? 0.0F : static_cast<float>(rough(step, rank, element));
  };
  play(script);
  const std::vector<float> weights = trained("one_bit_lamb:warmup=3", 4, 12)[0];
  EXPECT_EQ(std::vector<float>(weights.begin(), weights.begin() + 4), (std::vector<float>{0, 0, 0, 3}));
  for (const std::size_t i : {4U, 5U, 6U}) {
    EXPECT_TRUE(std::isfinite(weights[i])) << i;
    EXPECT_NE(weights[i], static_cast<float>(i));
  }
}

}  // namespace
}  // namespace trigram::testing::one_bit_lamb_test
