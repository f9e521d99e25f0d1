// Every topology against its definition: who talks to whom, sums of weights as declared, published spectral gaps.
#include "core/topologies/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tests/support/source_tree.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

/// Row-major n × n.
using Matrix = std::vector<std::vector<double>>;

Matrix mixing(const Topology& topology, std::int64_t step) {
  const auto n = static_cast<std::size_t>(topology.size());
  Matrix w(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& [j, weight] : topology.row(static_cast<int>(i), step)) w[i][static_cast<std::size_t>(j)] = weight;
  }
  return w;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      for (std::size_t j = 0; j < a.size(); ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

Matrix transposed(const Matrix& w) {
  Matrix back(w.size(), std::vector<double>(w.size()));
  for (std::size_t i = 0; i < w.size(); ++i) {
    for (std::size_t j = 0; j < w.size(); ++j) back[j][i] = w[i][j];
  }
  return back;
}

Matrix product_of_steps(const Topology& topology, std::int64_t first, std::int64_t steps) {
  Matrix w = mixing(topology, first);
  for (std::int64_t step = first + 1; step < first + steps; ++step) w = product(mixing(topology, step), w);
  return w;
}

double distance_to_mean(const Matrix& w) {
  double largest = 0;
  for (const auto& row : w) {
    for (const double value : row) largest = std::max(largest, std::abs(value - 1.0 / static_cast<double>(w.size())));
  }
  return largest;
}

/// Largest singular value of W − J, by power iteration on (W − J)ᵀ(W − J).
double second_singular_value(const Matrix& w) {
  const std::size_t n = w.size();
  const double mean = 1.0 / static_cast<double>(n);
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(1.0 + 3.7 * static_cast<double>(i * i));
  double length = 0;
  for (int iteration = 0; iteration < 5000; ++iteration) {
    std::vector<double> y(n), z(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) y[i] += (w[i][j] - mean) * x[j];
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) z[j] += (w[i][j] - mean) * y[i];
    }
    length = 0;
    for (const double value : z) length += value * value;
    length = std::sqrt(length);
    if (length == 0) return 0;
    for (std::size_t i = 0; i < n; ++i) x[i] = z[i] / length;
  }
  return std::sqrt(length);
}

double rho(const std::string& spec, int size, std::int64_t step = 0) {
  return 1.0 - spectral_gap(*make_topology(spec, size), step);
}

class EveryTopology : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Registered, EveryTopology, ::testing::ValuesIn(Topologies::names()),
                         [](const auto& topology) { return topology.param; });

bool has_size(const std::string& name, int size) {
  if (name == "hypercube") return (size & (size - 1)) == 0;
  return name != "shift_one" || size == 1 || size % 2 == 0;
}

void expect_stochastic(const Topology& topology, const Matrix& w) {
  const Matrix back = transposed(w);
  const bool rows = topology.stochasticity() != Topology::Stochasticity::column;
  const bool columns = topology.stochasticity() != Topology::Stochasticity::row;
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_GE(*std::min_element(w[i].begin(), w[i].end()), 0);
    const double row = std::accumulate(w[i].begin(), w[i].end(), 0.0);
    const double column = std::accumulate(back[i].begin(), back[i].end(), 0.0);
    EXPECT_NEAR(rows ? row : 1, 1, 1e-14) << w.size() << " vertices";
    EXPECT_NEAR(columns ? column : 1, 1, 1e-14) << w.size() << " vertices";
  }
}

TEST_P(EveryTopology, IsStochasticAsDeclaredAndSymmetricUnlessDirected) {
  for (int size = 1; size <= 17; ++size) {
    if (!has_size(GetParam(), size)) continue;
    const auto topology = make_topology(GetParam(), size);
    bool symmetric = true;
    for (std::int64_t step = 0; step < 9; ++step) {
      const Matrix w = mixing(*topology, step);
      expect_stochastic(*topology, w);
      symmetric = symmetric && w == transposed(w);
    }
    EXPECT_EQ(symmetric, !topology->directed()) << "size " << size;
  }
}

TEST_P(EveryTopology, SendersAndReceiversAgreeWithTheWeights) {
  for (int size = 1; size <= 17; ++size) {
    if (!has_size(GetParam(), size)) continue;
    const auto topology = make_topology(GetParam(), size);
    for (std::int64_t step = 0; step < 9; ++step) {
      const Matrix w = mixing(*topology, step);
      for (int rank = 0; rank < size; ++rank) {
        std::vector<int> senders;
        std::vector<int> receivers;
        const auto own = static_cast<std::size_t>(rank);
        for (int peer = 0; peer < size; ++peer) {
          const auto other = static_cast<std::size_t>(peer);
          if (peer != rank && w[own][other] > 0) senders.push_back(peer);
          if (peer != rank && w[other][own] > 0) receivers.push_back(peer);
        }
        EXPECT_EQ(topology->receives_from(rank, step), senders) << "size " << size << " rank " << rank;
        EXPECT_EQ(topology->sends_to(rank, step), receivers) << "size " << size << " rank " << rank;
      }
    }
  }
}

TEST_P(EveryTopology, RepeatsAfterItsPeriod) {
  const auto topology = make_topology(GetParam(), 16);
  if (topology->period() == 0) GTEST_SKIP() << "a random schedule has no period";
  for (std::int64_t step = 0; step < topology->period(); ++step) {
    EXPECT_EQ(mixing(*topology, step), mixing(*topology, step + topology->period()));
    for (std::int64_t other = 0; other < step; ++other) EXPECT_NE(mixing(*topology, step), mixing(*topology, other));
  }
}

TEST(Ring, OfOneTwoAndThree) {
  EXPECT_TRUE(make_topology("ring", 1)->sends_to(0, 0).empty());
  const auto two = make_topology("ring", 2);
  EXPECT_EQ(two->sends_to(0, 0), std::vector<int>{1});
  EXPECT_NEAR(two->row(0, 0).at(0), 1.0 / 3, 1e-15);
  EXPECT_NEAR(two->row(0, 0).at(1), 2.0 / 3, 1e-15);
  EXPECT_NEAR(rho("ring", 3), 0, 1e-12);
}

TEST(SpectralGap, OfRings) {
  const std::pair<int, double> known[] = {{4, .333333}, {8, .804738}, {16, .949253}, {32, .987190}};
  for (const auto& [size, value] : known) EXPECT_NEAR(rho("ring", size), value, 1e-6) << size;
}

TEST(SpectralGap, OfExponentialGraphs) {
  const std::pair<int, double> known[] = {{4, 1.0 / 3},  {8, .5},       {16, .6},     {32, 2.0 / 3},
                                          {64, .714286}, {128, .75},    {5, .25},     {7, .353553},
                                          {9, .441787},  {11, .489581}, {13, .456343}};
  for (const auto& [size, value] : known) EXPECT_NEAR(rho("exponential", size), value, 1e-6) << size;
}

TEST(SpectralGap, OfCompleteGraphsHypercubesAndStars) {
  for (const int size : {2, 3, 8, 17}) EXPECT_NEAR(rho("complete", size), 0, 1e-12) << size;
  for (int h = 1; h <= 6; ++h) EXPECT_NEAR(rho("hypercube", 1 << h), (h - 1.0) / (h + 1.0), 1e-12) << h;
  for (const int size : {3, 4, 9, 20}) EXPECT_NEAR(rho("star", size), 1 - 1.0 / size, 1e-12) << size;
}

// (1 + 2cos(2πp/a) + 2cos(2πq/b))/5
TEST(SpectralGap, OfTori) {
  const double pi = std::acos(-1.0);
  for (const auto& [rows, columns] : {std::pair{3, 4}, {4, 4}, {2, 6}, {1, 5}}) {
    double expected = 0;
    for (int p = 0; p < rows; ++p) {
      for (int q = 0; q < columns; ++q) {
        if (p + q == 0) continue;
        expected =
            std::max(expected, std::abs(1 + 2 * std::cos(2 * pi * p / rows) + 2 * std::cos(2 * pi * q / columns)) / 5);
      }
    }
    EXPECT_NEAR(rho("torus:rows=" + std::to_string(rows), rows * columns), expected, 1e-12) << rows << " x " << columns;
  }
}

TEST(Torus, IsAsSquareAsItCanBe) {
  EXPECT_EQ(make_topology("torus", 12)->sends_to(0, 0), (std::vector<int>{1, 3, 4, 8}));  // 3 × 4
  EXPECT_EQ(make_topology("torus", 7)->sends_to(0, 0), (std::vector<int>{1, 6}));         // 1 × 7
}

TEST(OnePeerExponential, AnyPeriodGivesTheExactMeanForPowersOfTwo) {
  for (const int size : {2, 4, 8, 16, 32}) {
    const auto topology = make_topology("one_peer_exponential", size);
    for (std::int64_t first = 0; first < 3; ++first) {
      EXPECT_EQ(distance_to_mean(product_of_steps(*topology, first, topology->period())), 0) << size;
    }
  }
  const auto six = make_topology("one_peer_exponential", 6);
  EXPECT_GT(distance_to_mean(product_of_steps(*six, 0, six->period())), 0.01);
}

TEST(ShiftOne, EqualsThePublishedSchedule) {
  std::ifstream file(source_tree() / "tests/vectors/shift_one_schedule.json");
  const nlohmann::json vectors = nlohmann::json::parse(file);
  int compared = 0;
  for (const auto& [ranks, steps] : vectors.at("peer").items()) {
    const auto topology = make_topology("shift_one", std::stoi(ranks));
    for (std::size_t step = 0; step < steps.size(); ++step) {
      for (std::size_t rank = 0; rank < steps[step].size(); ++rank) {
        EXPECT_EQ(topology->sends_to(static_cast<int>(rank), static_cast<std::int64_t>(step)),
                  std::vector<int>{steps[step][rank].get<int>()});
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

// One period contracts by cos(2π/n)^(n/2 − 1).
TEST(ShiftOne, ContractsAsDerived) {
  const std::pair<int, double> known[] = {{8, .35355}, {16, .574523}, {32, .747496}};
  for (const auto& [size, value] : known) {
    const auto topology = make_topology("shift_one", size);
    EXPECT_NEAR(second_singular_value(product_of_steps(*topology, 0, size / 2)), value, 5e-6) << size;
  }
  EXPECT_EQ(distance_to_mean(product_of_steps(*make_topology("shift_one", 4), 0, 2)), 0);
}

// E W = ((n−2)/(2(n−1))) I + rest J: a given pair meets with probability 1/(n−1). 4000 draws put each frequency within
// five standard deviations, √(p(1−p)/4000), of that but for one run in a million and more.
TEST(RandomMatching, PairsEverybodyAlikeOften) {
  constexpr int size = 8;
  constexpr int draws = 4000;
  const auto topology = make_topology("random_matching:seed=5", size);
  std::vector<std::vector<int>> meetings(size, std::vector<int>(size));
  for (std::int64_t step = 0; step < draws; ++step) {
    for (int rank = 0; rank < size; ++rank) {
      const std::vector<int> peers = topology->sends_to(rank, step);
      ASSERT_EQ(peers.size(), 1U);
      ++meetings[static_cast<std::size_t>(rank)][static_cast<std::size_t>(peers[0])];
    }
  }
  const double probability = 1.0 / (size - 1);
  const double tolerance = 5 * std::sqrt(probability * (1 - probability) / draws);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const double expected = i == j ? 0 : probability;
      EXPECT_NEAR(static_cast<double>(meetings[i][j]) / draws, expected, tolerance);
    }
  }
}

TEST(RandomMatching, RestsOneOfAnOddSizeAndDependsOnTheSeed) {
  const auto seven = make_topology("random_matching", 7);
  for (std::int64_t step = 0; step < 50; ++step) {
    int resting = 0;
    for (int rank = 0; rank < 7; ++rank) resting += seven->sends_to(rank, step).empty() ? 1 : 0;
    EXPECT_EQ(resting, 1);
  }
  const auto other = make_topology("random_matching:seed=1", 16);
  const auto same = make_topology("random_matching:seed=0", 16);
  const auto sixteen = make_topology("random_matching", 16);
  EXPECT_EQ(mixing(*sixteen, 3), mixing(*same, 3));
  EXPECT_NE(mixing(*sixteen, 3), mixing(*other, 3));
}

// Of four: 0 → 1, 2; 1 → 2; 2 → 3, 0; 3 → 0, and everyone tells itself.
TEST(ChordedRing, IsColumnStochasticWithWeightsThatLeaveOne) {
  const double half = 1.0 / 2, third = 1.0 / 3;
  const Matrix four = {{third, 0, third, half}, {third, half, 0, 0}, {third, half, third, 0}, {0, 0, third, half}};
  EXPECT_EQ(mixing(*make_topology("chorded_ring", 4), 0), four);
  // Where a has a chord and b has none, a = a/3 + a/3 + b/2 and b = b/2 + a/3 give b = 2a/3, and their mean is 1.
  for (const int size : {4, 8, 16}) {
    const auto topology = make_topology("chorded_ring", size);
    const Matrix limit = product_of_steps(*topology, 0, 400);
    for (std::size_t i = 0; i < limit.size(); ++i) {
      const double push_sum_weight = std::accumulate(limit[i].begin(), limit[i].end(), 0.0);
      EXPECT_NEAR(push_sum_weight, i % 2 == 0 ? 1.2 : 0.8, 1e-9) << size;
    }
  }
}

// Where W is not doubly stochastic, the length of its second eigenvalue says how fast it mixes.
TEST(SpectralGap, OfAChordedRing) {
  // Of four, W = [A B; B A] with A = [1/3 0; 1/3 1/2] and B = [1/3 1/2; 0 0]: its eigenvalues are those of A + B, 1 and
  // 1/6, and those of A − B, a pair whose product is 1/6.
  EXPECT_NEAR(rho("chorded_ring", 4), 1 / std::sqrt(6.0), 1e-9);
}

// Placements of 8 vertices, unequal nodes and nodes that are not in order among them.
const std::vector<std::vector<int>> placements = {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3},
                                                  {0, 0, 0, 1, 2, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1},
                                                  {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 6, 7}};

TEST(OneOutside, IsDoublyStochasticOnNodesOfAnySizes) {
  for (const std::vector<int>& nodes : placements) {
    const auto topology = make_topology("one_outside", Vertices(nodes));
    bool symmetric = true;
    for (std::int64_t step = 0; step < topology->period(); ++step) {
      const Matrix w = mixing(*topology, step);
      expect_stochastic(*topology, w);
      symmetric = symmetric && w == transposed(w);
    }
    EXPECT_EQ(symmetric, !topology->directed()) << ::testing::PrintToString(nodes);
  }
}

TEST(OneOutside, SendsOneMessageOutOfEveryNodeAStepAndEverybodyTakesTurns) {
  for (const std::vector<int>& nodes : placements) {
    const int count = 1 + *std::max_element(nodes.begin(), nodes.end());
    const auto topology = make_topology("one_outside", Vertices(nodes));
    std::set<int> outside;
    for (std::int64_t step = 0; step < topology->period(); ++step) {
      std::set<int> left, entered;
      for (int vertex = 0; vertex < 8; ++vertex) {
        const int node = nodes[static_cast<std::size_t>(vertex)];
        for (const int peer : topology->sends_to(vertex, step)) {
          const int other = nodes[static_cast<std::size_t>(peer)];
          if (other == node) continue;
          EXPECT_TRUE(left.insert(node).second && entered.insert(other).second);
          outside.insert(vertex);
        }
      }
      EXPECT_EQ(left.size(), count == 1 ? 0U : static_cast<std::size_t>(count));
    }
    EXPECT_EQ(outside.size(), count == 1 ? 0U : 8U);
  }
}

TEST(OneOutside, MixesOverItsPeriod) {
  for (const std::vector<int>& nodes : placements) {
    const auto topology = make_topology("one_outside", Vertices(nodes));
    EXPECT_LT(second_singular_value(product_of_steps(*topology, 0, topology->period())), 0.75)
        << ::testing::PrintToString(nodes);
  }
}

TEST(OneOutside, IsOnePeerExponentialWhereEachVertexIsANodeAndCompleteWhereAllShareOne) {
  const auto alone = make_topology("one_outside", 16);
  const auto known = make_topology("one_peer_exponential", 16);
  for (std::int64_t step = 0; step < 8; ++step) EXPECT_EQ(mixing(*alone, step), mixing(*known, step));
  EXPECT_EQ(distance_to_mean(mixing(*make_topology("one_outside", Vertices(placements[4])), 0)), 0);
}

TEST(DoublyStochastic, IsAskedForByName) {
  EXPECT_EQ(make_doubly_stochastic("exponential", 8, "decentralized")->size(), 8);
  try {
    make_doubly_stochastic("chorded_ring:every=3", 8, "decentralized");
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'decentralized'"));
    EXPECT_THAT(error.what(), HasSubstr("topology=chorded_ring:every=3 is only column stochastic"));
  }
}

TEST(Sizes, ThatAGraphCannotHaveAreNamed) {
  const auto refusal = [](const std::string& spec, int size) -> std::string {
    try {
      make_topology(spec, size);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal("hypercube", 12), HasSubstr("12"));
  EXPECT_THAT(refusal("shift_one", 9), HasSubstr("9"));
  EXPECT_THAT(refusal("torus:rows=5", 12), HasSubstr("12"));
  EXPECT_THAT(refusal("torus:rows=-1", 12), HasSubstr("-1"));
  for (const std::string& name : Topologies::names()) EXPECT_THAT(refusal(name, 0), HasSubstr("0")) << name;
}

}  // namespace
}  // namespace trigram
