// Convolutional networks: gradients against finite differences of a loss by plain loops in double, and against PyTorch;
// scores by frozen statistics; what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/device/on_host.hpp"
#include "experiments/workloads/data/batches.hpp"
#include "experiments/workloads/networks/convolutional.hpp"
#include "tests/experiments/workloads_rig.hpp"
#include "tests/kernels/vector_file.hpp"

namespace trigram::testing::workloads_cnn_test {
namespace {

using Doubles = std::vector<double>;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The network of cnn on images of 8x8, a whole batch at a time, in double.
class Reference {
 public:
  std::vector<Doubles> weights;  ///< in the order of parameters
  bool norm = true;

  Reference(const Workload::HostWeights& given, bool normalises) : norm(normalises) {
    for (const auto& tensor : given) weights.emplace_back(tensor.begin(), tensor.end());
  }

  /// Batch norm goes on with the statistics of these samples.
  void freeze(const std::vector<std::int64_t>& samples) {
    logits(samples);
    frozen_ = true;
  }

  double loss(const std::vector<std::int64_t>& samples) {
    const auto data = shared_dataset("digits");
    const std::vector<Doubles> rows = logits(samples);
    double total = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      double sum = 0;
      for (const double logit : rows[n]) sum += std::exp(logit);
      const std::int32_t label = data->train.labels[static_cast<std::size_t>(samples[n])];
      total += std::log(sum) - rows[n][static_cast<std::size_t>(label)];
    }
    return total / static_cast<double>(samples.size());
  }

 private:
  struct Statistics {
    double mean, scale;
  };
  bool frozen_ = false;
  std::vector<Statistics> statistics_;  ///< by channel, of all blocks

  std::vector<Doubles> logits(const std::vector<std::int64_t>& samples) {
    const auto data = shared_dataset("digits");
    std::vector<Doubles> x;
    for (const std::int64_t sample : samples) {
      const auto row = data->train.features.begin() + sample * 64;
      x.emplace_back(row, row + 64);
    }
    if (!frozen_) statistics_.clear();
    std::size_t at = 0, side = 8, channel = 0;
    for (; at + 2 < weights.size(); side /= 2) {
      x = convolved(x, weights[at++], side);
      normalise(x, side * side, weights[at], norm ? weights[at + 1] : weights[at], channel);
      at += norm ? 2 : 1;
      x = pooled(x, side);
    }
    for (Doubles& row : x) {
      Doubles z = weights[at + 1];
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (std::size_t j = 0; j < z.size(); ++j) z[j] += row[i] * weights[at][i * z.size() + j];
      }
      row = z;
    }
    return x;
  }

  static std::vector<Doubles> convolved(const std::vector<Doubles>& x, const Doubles& filters, std::size_t side) {
    const std::size_t pixels = side * side, channels = x[0].size() / pixels, count = filters.size() / channels / 9;
    std::vector<Doubles> y(x.size(), Doubles(count * pixels));
    for (std::size_t n = 0; n < x.size(); ++n) {
      for (std::size_t at = 0; at < filters.size(); ++at) {
        const std::size_t f = at / channels / 9, c = at / 9 % channels, r = at / 3 % 3, s = at % 3;
        for (std::size_t i = r == 0 ? 1 : 0; i + r < side + 1 && i < side; ++i)
          for (std::size_t j = s == 0 ? 1 : 0; j + s < side + 1 && j < side; ++j)
            y[n][f * pixels + i * side + j] += filters[at] * x[n][c * pixels + (i + r - 1) * side + j + s - 1];
      }
    }
    return y;
  }

  /// Gain and shift, or a bias in place of both.
  void normalise(std::vector<Doubles>& x, std::size_t pixels, const Doubles& gain, const Doubles& shift,
                 std::size_t& channel) {
    for (std::size_t c = 0; c < gain.size(); ++c, ++channel) {
      if (norm && !frozen_) statistics_.push_back(statistics(x, c * pixels, pixels));
      for (Doubles& row : x) {
        for (std::size_t i = c * pixels; i < (c + 1) * pixels; ++i) {
          row[i] = norm ? (row[i] - statistics_[channel].mean) * statistics_[channel].scale * gain[c] + shift[c]
                        : row[i] + gain[c];
        }
      }
    }
  }

  static Statistics statistics(const std::vector<Doubles>& x, std::size_t begin, std::size_t pixels) {
    double sum = 0, squares = 0;
    for (const Doubles& row : x) {
      for (std::size_t i = begin; i < begin + pixels; ++i) sum += row[i], squares += row[i] * row[i];
    }
    const auto count = static_cast<double>(x.size() * pixels);
    return {sum / count, 1 / std::sqrt(squares / count - sum / count * (sum / count) + 1e-5)};
  }

  static std::vector<Doubles> pooled(const std::vector<Doubles>& x, std::size_t side) {
    std::vector<Doubles> y(x.size());
    for (std::size_t n = 0; n < x.size(); ++n) {
      for (std::size_t plane = 0; plane < x[n].size(); plane += side * side)
        for (std::size_t i = 0; i + 1 < side; i += 2)
          for (std::size_t j = 0; j + 1 < side; j += 2) {
            const double* at = x[n].data() + plane + i * side + j;
            y[n].push_back(std::max({0.0, at[0], at[1], at[side], at[side + 1]}));
          }
    }
    return y;
  }
};

/// `near` up to 1e-5 of the largest.
void expect_near(const std::vector<float>& got, const Doubles& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-5 * (1 + largest)) << what << " " << i;
}

class CnnGradients : public ::testing::TestWithParam<const char*> {};

TEST_P(CnnGradients, EqualFiniteDifferences) {
  constexpr double step = 1e-5;
  const Shard shard{.global_batch = 6, .seed = 5};
  Rig rig(GetParam(), shard);
  rig.train(0, 0.1F);  // off the initial point, where shifts and biases are not zero
  const float loss = rig.compute(0);
  Reference reference(rig.weights(), !std::string(GetParam()).ends_with("none"));
  const auto data = shared_dataset("digits");
  const std::vector<std::int64_t> samples = Batches(data->train.labels, data->classes, shard, 6).indices(0);
  EXPECT_NEAR(loss, reference.loss(samples), 1e-5);
  Doubles expected;
  for (Doubles& tensor : reference.weights) {
    for (double& weight : tensor) {
      const double before = weight;
      weight = before + step;
      const double above = reference.loss(samples);
      weight = before - step;
      expected.push_back((above - reference.loss(samples)) / (2 * step));
      weight = before;
    }
  }
  expect_near(rig.gradients(), expected, "gradient");
}

INSTANTIATE_TEST_SUITE_P(Networks, CnnGradients,
                         ::testing::Values("cnn:channels=3", "cnn:channels=2x3", "cnn:channels=2x3,norm=none"));

/// As in tests/vectors/cnn_gradients.py.
std::vector<float> values(std::size_t seed, std::size_t count) {
  std::vector<float> all;
  for (std::size_t k = 0; k < count; ++k)
    all.push_back(static_cast<float>(static_cast<double>((k * 7919 + seed * 104729) % 2003) / 1001.5 - 1));
  return all;
}

/// The network of those vectors, with room for gradients.
struct Small {
  static constexpr std::int64_t rows = 6, pixels = 42, classes = 5;
  MeteredRank rank{0, 1};
  Device& device = rank.device();
  Convolutional network;
  std::vector<OwnedBuffer> memory;
  std::vector<ParameterView> parameters;
  std::vector<Buffer> weights;

  explicit Small(ChannelNorm norm) : network("a test", {7, 6}, {3, 4}, norm, classes) {
    for (const Parameter& parameter : network.parameters()) {
      memory.push_back(hold(values(weights.size(), static_cast<std::size_t>(parameter.count))));
      weights.push_back(memory.back());
      memory.push_back(device.allocate(Shape::of(parameter.count, DType::f32)));
      parameters.push_back({weights.back(), memory.back()});
    }
    network.allocate(device, rows, true);
  }

  OwnedBuffer hold(const std::vector<float>& values) { return on_device(device, values); }
  std::vector<float> host(const Buffer& buffer) { return on_host<float>(device, buffer); }
  std::vector<float> forward(std::size_t seed, std::int64_t count) {
    const std::vector<float> images = values(seed, static_cast<std::size_t>(count * pixels));
    device.upload(std::as_bytes(std::span(images)), network.input().slice(0, count * pixels));
    network.forward(device, weights, count);
    return host(network.logits().slice(0, count * classes));
  }
  /// The loss; logits become their gradient.
  float lose() {
    const std::vector<std::int32_t> labels{0, 1, 2, 3, 4, 0};
    const OwnedBuffer held = device.allocate(Shape::of(rows, DType::i32)), loss = hold({0});
    device.upload(std::as_bytes(std::span(labels)), held);
    const Buffer logits = network.logits();
    AppliedOperation(device, "cross_entropy:scale=" + number_text(1.0 / rows),
                     {{{rows, classes}}, {{rows}, DType::i32}})
        .forward(device, {.inputs = {logits, held}, .outputs = {loss}, .saved = {logits}});
    return host(loss)[0];
  }
};

TEST(Cnn, IsPyTorchs) {
  const nlohmann::json all = nlohmann::json::parse(std::ifstream(vector_file("cnn_gradients.json")));
  ASSERT_EQ(all["cases"].size(), 2U);
  for (const auto& expected : all["cases"]) {
    const auto norm = expected["norm"].get<std::string>();
    Small small(norm == "batch" ? ChannelNorm::batch : ChannelNorm::none);
    expect_near(small.forward(99, Small::rows), expected["logits"].get<Doubles>(), norm + ": logits");
    EXPECT_NEAR(small.lose(), expected["loss"].get<double>(), 1e-5) << norm;
    for (int layer = 2; layer >= 0; --layer) {
      const std::size_t a_block = norm == "batch" ? 3 : 2, begin = static_cast<std::size_t>(layer) * a_block;
      const std::size_t count = layer == 2 ? 2 : a_block;
      small.network.backward(small.device, layer, std::span(small.parameters).subspan(begin, count));
    }
    for (std::size_t i = 0; i < small.parameters.size(); ++i)
      expect_near(small.host(small.parameters[i].gradients), expected["gradients"][i].get<Doubles>(),
                  norm + ": gradient of parameter " + std::to_string(i));
    small.forward(99, Small::rows);
    small.network.freeze_statistics();
    expect_near(small.forward(98, 2), expected["frozen_logits"].get<Doubles>(), norm + ": frozen logits");
  }
}

TEST(Cnn, ScoresByStatisticsOfTrainingSamplesAndSpendsNoTime) {
  Rig rig("cnn:channels=2x3,batch=32,score_samples=50", {.seed = 2});
  for (int step = 0; step < 3; ++step) rig.train(step, 0.1F);
  rig.runtime.device().work = {};
  const double found = *rig.workload->objective(rig.runtime.device(), rig.weights());
  EXPECT_EQ(rig.runtime.device().work.flops, 0);
  Reference reference(rig.weights(), true);
  std::vector<std::int64_t> spread, scored;
  for (std::int64_t i = 0; i < 1024; ++i) spread.push_back(i * 1438 / 1024);
  for (std::int64_t i = 0; i < 50; ++i) scored.push_back(i);
  reference.freeze(spread);
  EXPECT_NEAR(found, reference.loss(scored), 1e-5);
}

TEST(Cnn, LearnsDigits) {
  const auto learned = [](const std::string& spec) {
    Rig rig(spec, {.seed = 11});
    for (int step = 0; step < 200; ++step) rig.train(step, 0.1F);
    return rig.workload->accuracy(rig.runtime.device(), rig.weights());
  };
  EXPECT_GT(learned("cnn:channels=4x8,batch=64"), 0.9);
  EXPECT_GT(learned("cnn:channels=4x8,norm=none,batch=64"), 0.8) << "slower without batch norm";
}

TEST(Cnn, AnEmptyShardContributesZero) {
  Rig rig("cnn:channels=2", {.rank = 2, .world = 3, .global_batch = 2});
  ASSERT_EQ(rig.workload->local_batch(), 0);
  EXPECT_EQ(rig.compute(0), 0.0F);
  EXPECT_THAT(rig.gradients(), Each(0.0F));
}

TEST(Cnn, NamesItsShapeAndParameters) {
  const Rig rig("cnn:channels=4x6");
  EXPECT_EQ(rig.workload->description(), "cnn 8x8-4-6-10 on digits");
  std::vector<std::string> names;
  for (const Parameter& parameter : rig.parameters)
    names.push_back(parameter.name + (parameter.decays ? "" : " stays") + " " + std::to_string(parameter.count));
  EXPECT_THAT(names, ::testing::ElementsAre("layer0.filters 36", "layer0.gain stays 4", "layer0.shift stays 4",
                                            "layer1.filters 216", "layer1.gain stays 6", "layer1.shift stays 6",
                                            "layer2.weight 240", "layer2.bias stays 10"));
}

void expect_refused(const std::string& spec, const std::string& part) {
  EXPECT_THAT([&] { Rig rig(spec); }, ThrowsMessage<UsageError>(HasSubstr(part))) << spec;
}

TEST(Cnn, RefusesWhatCannotBe) {
  expect_refused("cnn:channels=8x0", "workload 'cnn': channels=8x0 is no list of widths; write 64 or 64x32");
  expect_refused("cnn:norm=layer", "workload 'cnn': norm=layer is neither batch nor none");
  expect_refused("cnn:channels=2x2x2x2",
                 "workload 'cnn': each number of channels halves images of 8x8, of which nothing is left for the last "
                 "of 4; give 3 at most");
  const std::string file = ::testing::TempDir() + "no_images.csv";
  std::ofstream(file) << "1,2,0\n3,4,1\n";
  expect_refused("cnn:data=(csv:train=" + file + ",test=" + file + ")",
                 "workload 'cnn': samples of data set 'csv' are no images");
}

}  // namespace
}  // namespace trigram::testing::workloads_cnn_test
