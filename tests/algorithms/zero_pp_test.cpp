// ZeRO++ beside its two hops of quantized blocks, recomputed in double precision.
#include "tests/algorithms/recomputed.hpp"

namespace trigram::testing::zero_pp_test {
namespace {

using namespace recomputed;

constexpr std::int64_t steps = 6;

/// Each block of so many elements in multiples of its largest magnitude over `levels`, the nearest ones.
Vector quantized(const Vector& x, std::size_t block, double levels) {
  Vector rounded = x;
  for (std::size_t begin = 0; begin < x.size(); begin += block) {
    const std::size_t end = std::min(x.size(), begin + block);
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(x[i]));
    const double unit = largest / levels;
    for (std::size_t i = begin; i < end && unit > 0; ++i) rounded[i] = unit * std::round(x[i] / unit);
  }
  return rounded;
}

struct Cut {
  std::size_t begin, end;
};
/// As many elements a part, or one more in the first ones.
std::vector<Cut> cut(Cut whole, std::size_t parts) {
  std::vector<Cut> all;
  std::size_t begin = whole.begin, left = whole.end - whole.begin;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t size = (left + parts - part - 1) / (parts - part);
    all.push_back({begin, begin + size});
    begin += size, left -= size;
  }
  return all;
}
Vector of(const Vector& x, Cut part) {
  return {x.begin() + static_cast<std::ptrdiff_t>(part.begin), x.begin() + static_cast<std::ptrdiff_t>(part.end)};
}

/// The mean of what each of `vectors` quantizes of this part to four bits, by blocks of two.
Vector mean_of_part(const Vectors& vectors, Cut part) {
  Vector mean(part.end - part.begin, 0.0);
  for (const Vector& one : vectors) {
    const Vector sent = quantized(of(one, part), 2, 7);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += sent[i] / static_cast<double>(vectors.size());
  }
  return mean;
}

/// Weights after steps of so many nodes of so many ranks; one rank a node is the flat group.
Vectors recomputed_weights(std::size_t nodes, std::size_t each, bool weights_are_quantized) {
  const auto ranks = static_cast<int>(nodes * each);
  Vectors x = initial(ranks);
  Vector master = x[0];
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors g = gradients(step, x, true);
    Vector next = master;
    for (const Cut local : cut({0, elements}, each)) {
      Vectors of_nodes;  // each node's mean of this local rank's part
      for (std::size_t node = 0; node < nodes; ++node) {
        const auto first = g.begin() + static_cast<std::ptrdiff_t>(node * each);
        const Vectors inside(first, first + static_cast<std::ptrdiff_t>(each));
        of_nodes.push_back(each == 1 ? of(inside[0], local) : mean_of_part(inside, local));
      }
      for (const Cut part : cut({0, local.end - local.begin}, nodes)) {
        const Vector mean = mean_of_part(of_nodes, part);
        const std::size_t begin = local.begin + part.begin;
        for (std::size_t i = 0; i < mean.size(); ++i) master[begin + i] -= rate * mean[i];
        Vector sent = of(master, {begin, begin + mean.size()});
        if (weights_are_quantized) sent = quantized(sent, 2, 127);
        std::copy(sent.begin(), sent.end(), next.begin() + static_cast<std::ptrdiff_t>(begin));
      }
    }
    x = Vectors(x.size(), next);
  }
  return x;
}

std::vector<std::vector<float>> run(const std::string& parameters, int ranks, Hierarchy hierarchy) {
  play_rough(true);
  TrainingOptions options = scripted("zero_pp:" + parameters, steps);
  options.evaluate_every = 0;
  options.relaxation.hierarchy = hierarchy;
  return weights_of(train_on(threads(2), ranks, options));
}

const std::string four_bits = "gradients=(qsgd:levels=7,bucket_size=2,stochastic=off)";
const std::string eight_bits = ",weights=(qsgd:levels=127,bucket_size=2,stochastic=off)";

TEST(ZeroPlusPlus, QuantizesInOneHopWithoutAHierarchy) {
  for (const int ranks : {2, 3, 4}) {
    const auto flat = static_cast<std::size_t>(ranks);
    expect_recomputed(run(four_bits + ",weights=identity", ranks, Hierarchy::none), recomputed_weights(flat, 1, false),
                      "whole weights");
    expect_recomputed(run(four_bits + eight_bits, ranks, Hierarchy::none), recomputed_weights(flat, 1, true),
                      "weights of eight bits");
  }
}

TEST(ZeroPlusPlus, QuantizesInTwoHopsOverNodes) {
  for (const int ranks : {4, 6}) {
    expect_recomputed(run(four_bits + eight_bits, ranks, Hierarchy::all_nics),
                      recomputed_weights(static_cast<std::size_t>(ranks) / 2, 2, true), "two hops");
  }
}

TEST(ZeroPlusPlus, ThatRoundsNothingIsDataParallelSgd) {
  play_rough(true);
  const auto expected = trained("all_reduce", 4, steps);
  for (const Hierarchy hierarchy : {Hierarchy::none, Hierarchy::all_nics}) {
    const auto weights = run("gradients=identity,weights=identity", 4, hierarchy);
    for (std::size_t i = 0; i < expected[0].size(); ++i) EXPECT_NEAR(weights[0][i], expected[0][i], 4e-6);
  }
}

}  // namespace
}  // namespace trigram::testing::zero_pp_test
