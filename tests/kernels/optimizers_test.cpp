// SGD and Adam steps against a small network trained by PyTorch, and against closed forms of one step.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/kernels/test_device.hpp"
#include "tests/kernels/vector_file.hpp"

namespace trigram {
namespace {

using nlohmann::json;
using Floats = std::vector<float>;

/// Two inputs, three sigmoid units, one sigmoid unit; the loss is the sum of outputs over three rows. Weights and
/// inputs are those of the reference (Bagua's test of fused optimizers).
class Network {
 public:
  std::vector<Floats> parameters = {{-0.2109F, -0.4976F, -0.1413F, -0.3420F, -0.2524F, 0.6976F},
                                    {-0.1085F, -0.2979F, 0.6892F},
                                    {-0.0508F, -0.3941F, -0.2843F},
                                    {-0.0711F}};

  std::vector<Floats> gradients() const {
    std::vector<Floats> gradient = {Floats(6), Floats(3), Floats(3), Floats(1)};
    const double inputs[3][2] = {{0.1, 0.2}, {0.3, 0.4}, {0.5, 0.6}};
    for (const auto& input : inputs) {
      double hidden[3];
      double sum = parameters[3][0];
      for (std::size_t j = 0; j < 3; ++j) {
        hidden[j] = sigmoid(parameters[1][j] + parameters[0][2 * j] * input[0] + parameters[0][2 * j + 1] * input[1]);
        sum += parameters[2][j] * hidden[j];
      }
      const double output = sigmoid(sum);
      const double slope = output * (1 - output);
      gradient[3][0] += static_cast<float>(slope);
      for (std::size_t j = 0; j < 3; ++j) {
        const double inner = slope * parameters[2][j] * hidden[j] * (1 - hidden[j]);
        gradient[2][j] += static_cast<float>(slope * hidden[j]);
        gradient[1][j] += static_cast<float>(inner);
        gradient[0][2 * j] += static_cast<float>(inner * input[0]);
        gradient[0][2 * j + 1] += static_cast<float>(inner * input[1]);
      }
    }
    return gradient;
  }

 private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
};

/// Updates one parameter tensor: (weights, gradients, its two states, weight decay, step from 1).
using Step = std::function<void(Buffer, Buffer, Buffer, Buffer, float, int)>;

void expect_reference(TestDevice& device, std::size_t which, const Step& step) {
  const json all = json::parse(std::ifstream(vector_file("optimizer_reference.json")));
  const json& reference = all.at("cases").at(which).at("params_after_epoch");
  Network network;
  std::vector<OwnedBuffer> weights, first, second;
  for (const Floats& parameter : network.parameters) {
    weights.push_back(device.hold(parameter));
    first.push_back(device.allocate(weights.back().view().shape()));
    second.push_back(device.allocate(weights.back().view().shape()));
  }
  int compared = 0;
  for (int epoch = 1; epoch <= 101; ++epoch) {
    const std::vector<Floats> gradients = network.gradients();
    for (std::size_t p = 0; p < weights.size(); ++p) {
      const float decay = p % 2 == 0 ? 0.1F : 0.0F;
      step(weights[p], device.hold(gradients[p]), first[p], second[p], decay, epoch);
      network.parameters[p] = device.values(weights[p]);
    }
    if (!reference.contains(std::to_string(epoch))) continue;
    for (std::size_t p = 0; p < weights.size(); ++p) {
      const auto expected = reference[std::to_string(epoch)][p].get<Floats>();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(network.parameters[p][i], expected[i], 1e-4F * std::abs(expected[i]))
            << epoch << ' ' << p << ' ' << i;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 3 * 13);
}

TEST(Sgd, WithNesterovMomentumFollowsPyTorch) {
  TestDevice device;
  expect_reference(device, 0, [&](Buffer weights, Buffer gradients, Buffer velocity, Buffer, float decay, int epoch) {
    device.sgd(
        {weights, gradients, velocity},
        {.learning_rate = 0.2F, .momentum = 1, .weight_decay = decay, .nesterov = true, .first_step = epoch == 1});
  });
}

TEST(Sgd, FollowsPyTorch) {
  TestDevice device;
  expect_reference(device, 1, [&](Buffer weights, Buffer gradients, Buffer, Buffer, float decay, int) {
    device.sgd({weights, gradients, {}}, {.learning_rate = 0.01F, .weight_decay = decay});
  });
}

TEST(Adam, FollowsPyTorch) {
  TestDevice device;
  expect_reference(device, 2,
                   [&](Buffer weights, Buffer gradients, Buffer first, Buffer second, float decay, int epoch) {
                     device.adam({weights, gradients, first, second},
                                 {.learning_rate = 1e-3F, .weight_decay = decay, .step = epoch});
                   });
}

// u₁ = d₁ and u₂ = ½·d₁ + (1 − ¼)·d₂, with d = g = 1.
TEST(Sgd, DampensAllButTheFirstStep) {
  TestDevice device;
  const OwnedBuffer weight = device.hold({0.0F});
  const OwnedBuffer velocity = device.hold({0.0F});
  const OwnedBuffer gradient = device.hold({1.0F});
  SgdConstants constants{.learning_rate = 1, .momentum = 0.5F, .dampening = 0.25F, .first_step = true};
  device.sgd({weight, gradient, velocity}, constants);
  EXPECT_EQ(device.values(weight)[0], -1.0F);
  constants.first_step = false;
  device.sgd({weight, gradient, velocity}, constants);
  EXPECT_EQ(device.values(weight)[0], -2.25F);
}

// In the first step m̂ = g and v̂ = g²: w ← w(1 − γλ) − γ·g/(|g| + ε).
TEST(Adam, DecaysWeightsBesideTheGradientWhenDecoupled) {
  TestDevice device;
  const OwnedBuffer weight = device.hold({2.0F});
  const OwnedBuffer gradient = device.hold({-3.0F});
  const OwnedBuffer first = device.hold({0.0F});
  const OwnedBuffer second = device.hold({0.0F});
  device.adam({weight, gradient, first, second},
              {.learning_rate = 0.1F, .weight_decay = 0.5F, .step = 1, .decoupled = true});
  EXPECT_NEAR(device.values(weight)[0], 2.0F * 0.95F + 0.1F, 1e-6F);
}

TEST(Optimizers, AFlatBucketEqualsItsTensorsBitForBit) {
  TestDevice portable(Instructions::portable), best(best_instructions()), tested;
  for (TestDevice* const each : {&portable, &best, &tested}) {
    TestDevice& device = *each;
    const Floats start = random_vector(1003, 1), gradient = random_vector(1003, 2);
    const OwnedBuffer flat = device.hold(start), parts = device.hold(start), gradients = device.hold(gradient);
    const Shape shape = flat.view().shape();
    const OwnedBuffer m = device.allocate(shape), v = device.allocate(shape), n = device.allocate(shape),
                      u = device.allocate(shape);
    for (int step = 1; step <= 3; ++step) {
      const AdamConstants constants{.learning_rate = 0.01F, .weight_decay = 0.1F, .step = step};
      device.adam({flat, gradients, m, v}, constants);
      std::vector<AdamTensor> tensors;
      for (const auto& [offset, count] : {std::pair{0, 1}, std::pair{1, 66}, std::pair{67, 936}}) {
        const auto part = [&](const OwnedBuffer& whole) { return whole.view().slice(offset, count); };
        tensors.push_back({part(parts), part(gradients), part(n), part(u)});
      }
      device.adam(tensors, constants);
    }
    EXPECT_EQ(device.values(flat), device.values(parts));
    EXPECT_NE(device.values(flat), start);
  }
}

}  // namespace
}  // namespace trigram
