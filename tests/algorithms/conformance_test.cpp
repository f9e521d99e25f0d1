// Every algorithm keeps what it declares, on every backend and for world sizes of all kinds: those of the catalogue,
// honest ones of other kinds, which must pass, and wrong ones, which must be caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "core/conformance/algorithm_check.hpp"
#include "core/conformance/codec_check.hpp"
#include "core/conformance/topology_check.hpp"
#include "core/conformance/trial.hpp"
#include "core/device/codec.hpp"
#include "core/topologies/topology.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {
namespace {

constexpr int ranks_per_node = 2;
const std::string wrong = "mutant/";

/// All trials on so many ranks of a place. The reference counts and sends every message itself.
std::vector<Tried> try_all(const std::string& name, const Place& place, int ranks) {
  const auto backend = Backends::make(place.backend);
  const auto reference = Backends::make(threads(ranks_per_node));
  const bool is_reference = place.backend == threads(ranks_per_node);
  std::vector<Tried> all;
  for (const std::string& spec : trial_specs(name)) {
    all.push_back(try_algorithm(spec, {*backend, is_reference ? nullptr : reference.get(), place.same_bits}, ranks));
  }
  return all;
}

using Case = std::tuple<std::string, Place, int>;

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::get<0>(info.param);
  std::replace(name.begin(), name.end(), '/', '_');
  return name + "_" + std::get<1>(info.param).name + "_on_" + std::to_string(std::get<2>(info.param));
}

class EveryAlgorithm : public ::testing::TestWithParam<Case> {};

/// Whether none would train, or those who ask would not be answered.
bool must_be_refused(const std::string& spec, const Place& place, int ranks) {
  const auto algorithm = Algorithms::make(spec);
  const bool unanswered = algorithm->asks() && !Backends::make(place.backend)->refuses_asking().empty();
  return unanswered || algorithm->servers(ranks) >= ranks;
}

TEST_P(EveryAlgorithm, KeepsWhatItDeclares) {
  const auto& [name, place, ranks] = GetParam();
  for (const Tried& tried : try_all(name, place, ranks)) {
    EXPECT_TRUE(tried.violations.empty()) << tried.spec << "\n" << text_of(tried.violations, "  ");
    EXPECT_EQ(!tried.refusal.empty(), must_be_refused(tried.spec, place, ranks)) << tried.spec << ": " << tried.refusal;
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, EveryAlgorithm,
                         ::testing::Combine(::testing::ValuesIn(honest_algorithms()),
                                            ::testing::ValuesIn(all_places(ranks_per_node)),
                                            ::testing::Values(1, 2, 3, 4, 7, 8)),
                         case_name);

// What they stand for is tried in worlds of all kinds.
INSTANTIATE_TEST_SUITE_P(ByNamesOfTheLiterature, EveryAlgorithm,
                         ::testing::Combine(::testing::ValuesIn(compositions()),
                                            ::testing::ValuesIn(all_places(ranks_per_node)), ::testing::Values(4, 7)),
                         case_name);

TEST(Trials, ChangeEveryParameter) {
  for (const std::string& name : honest_algorithms()) EXPECT_EQ(text_of(untried_parameters(name), name + " "), "");
}

/// A wrong algorithm, and the invariant that finds it.
struct Mutant {
  std::string name;
  std::string invariant;
};
void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

const std::vector<Mutant> mutants = {{"does_nothing", "communication"},
                                     {"forgets_a_rank", "mean"},
                                     {"leaves_a_rank_behind", "replicas"},
                                     {"compresses_a_rank_away", "influence"},
                                     {"is_right_at_its_defaults", "mean"},
                                     {"miscounts_by_one_byte", "cost"},
                                     {"is_wrong_with_leaders", "mean"},
                                     {"mixes_too_little", "contraction"},
                                     {"depends_on_overlap", "bits"},
                                     {"forgets_at_a_checkpoint", "state"},
                                     {"saves_while_it_averages", "state"},
                                     {"steps_back_from_what_it_learned", "direction"},
                                     {"pushes_momentum_up", "direction"},
                                     {"follows_signs_up", "direction"},
                                     {"feeds_errors_back_negated", "settling"},
                                     {"begins_with_noise_of_its_own", "start"},
                                     {"forgets_what_leavers_owed", "membership"},
                                     {"forgives_all_debts", "membership"},
                                     {"takes_its_debt_for_everybodys", "membership"},
                                     {"leaves_a_drift_behind", "membership"}};
/// One that never ends, but where somebody notices: in the simulator.
const std::string deadlock = wrong + "waits_for_a_message_too_many";

using MutantCase = std::tuple<Mutant, Place, int>;

std::string mutant_case_name(const ::testing::TestParamInfo<MutantCase>& info) {
  const auto& [mutant, place, ranks] = info.param;
  return mutant.name + "_" + place.name + "_on_" + std::to_string(ranks);
}

class EveryMutant : public ::testing::TestWithParam<MutantCase> {};

TEST_P(EveryMutant, IsCaughtByTheInvariantThatItBreaks) {
  const auto& [mutant, place, ranks] = GetParam();
  const bool by_bits = mutant.invariant == "bits" || mutant.invariant == "state";
  if (by_bits && !place.same_bits) GTEST_SKIP() << place.name << " promises no bits";
  const bool is_reference = place.backend == threads(ranks_per_node);
  if (mutant.invariant == "membership" && !is_reference) GTEST_SKIP() << "members change on the reference";
  std::string found;
  for (const Tried& tried : try_all(wrong + mutant.name, place, ranks)) found += text_of(tried.violations, "\n");
  EXPECT_NE(found.find("\n" + mutant.invariant + ": "), std::string::npos) << "found only:" << found;
}

INSTANTIATE_TEST_SUITE_P(Everywhere, EveryMutant,
                         ::testing::Combine(::testing::ValuesIn(mutants),
                                            ::testing::ValuesIn(all_places(ranks_per_node)), ::testing::Values(3, 4)),
                         mutant_case_name);

TEST(Mutants, AreAllInTheTableAndPassWhereTheyAreRight) {
  for (const std::string& name : Algorithms::names()) {
    if (!name.starts_with(wrong) || name == deadlock) continue;
    const auto known =
        std::find_if(mutants.begin(), mutants.end(), [&](const Mutant& mutant) { return wrong + mutant.name == name; });
    ASSERT_NE(known, mutants.end()) << name;
    if (known->invariant == "direction") continue;  // wrong on one rank as well
    const auto backend = Backends::make(all_places(ranks_per_node).front().backend);
    if (name == wrong + "miscounts_by_one_byte" || name == wrong + "depends_on_overlap") continue;
    if (name == wrong + "saves_while_it_averages") continue;
    EXPECT_EQ(text_of(try_algorithm(name, {*backend}, 1).violations, name + " "), "");
  }
}

TEST(Mutants, ADeadlockNamesTrialRanksStepAndPeers) {
  if (!Backends::has("sim")) GTEST_SKIP() << "there is no simulator";
  const auto backend = Backends::make(simulator(ranks_per_node));
  const std::string found = text_of(try_algorithm(deadlock, {*backend}, 4).violations, "");
  EXPECT_NE(found.find("training: " + deadlock + " on 4 ranks, 8 steps of known_gradients: deadlock at "),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("  rank 1, step 3, lane "), std::string::npos) << found;
  EXPECT_NE(found.find(" bytes from rank 2\n"), std::string::npos) << found;
  EXPECT_EQ(found.find(" more"), std::string::npos) << found;
}

TEST(Mutants, WhatNoTrialChangesIsNamed) {
  EXPECT_EQ(text_of(untried_parameters("mutant/depends_on_overlap"), ""),
            "trials: parameter bias is 0.5 in all of them; trials() must name one with another value\n");
}

TEST(Topologies, KeepWhatTheyDeclareUnlessTheyAreWrong) {
  for (const std::string& name : Topologies::names()) {
    for (int size = 1; size <= 9; ++size) EXPECT_EQ(text_of(try_topology(name, size).violations, name + " "), "");
    const std::vector<int> nodes = {0, 0, 0, 0, 1, 1, 2, 2};
    EXPECT_EQ(text_of(try_topology(name, Vertices(nodes)).violations, name + " on nodes "), "");
  }
  for (const std::string wrong_in : {"peers", "weights", "mixing", "schedule"}) {
    const TriedTopology tried = try_topology("mutant_ring:wrong=" + wrong_in, 5);
    ASSERT_FALSE(tried.violations.empty()) << wrong_in;
    EXPECT_EQ(tried.violations.front().invariant, wrong_in);
  }
  EXPECT_NE(try_topology("hypercube", 3).refusal, "");
}

TEST(Topologies, AreHeldToTheSumsThatTheyDeclare) {
  const std::string wrong_columns = "mutant_ring:wrong=columns";
  EXPECT_EQ(text_of(try_topology(wrong_columns + ",declares=row", 5).violations, ""), "");
  EXPECT_EQ(text_of({try_topology(wrong_columns, 5).violations.front()}, ""),
            "weights: vertex 0, step 0: its column sums to 0.750000, but it is doubly stochastic\n");
}

TEST(Topologies, AreRefusedByWhatNeedsMoreThanTheyDeclare) {
  const auto backend = Backends::make(threads(ranks_per_node));
  const auto refusal = [&](const std::string& spec) { return Trial(spec, *backend, 4).refusal({.steps = 1}); };
  for (const std::string name : {"decentralized", "low_precision_decentralized", "gradient_tracking"}) {
    const std::string reason = refusal(name + ":topology=chorded_ring");
    EXPECT_NE(reason.find("'" + name + "'"), std::string::npos) << reason;
    EXPECT_NE(reason.find("topology=chorded_ring is only column stochastic"), std::string::npos) << reason;
  }
  EXPECT_EQ(refusal("sgp:topology=chorded_ring"), "");
  EXPECT_NE(refusal("sgp:topology=mutant_ring:declares=row").find("is row stochastic"), std::string::npos);
}

TEST(Codecs, KeepWhatTheyDeclareUnlessTheyAreWrong) {
  const auto backend = Backends::make(threads(ranks_per_node));
  for (const std::string& name : Codecs::names()) {
    if (!name.starts_with("cpu/")) continue;
    for (const TriedCodec& tried : try_codec(name.substr(4), *backend)) {
      EXPECT_EQ(text_of(tried.violations, name + " "), "");
    }
  }
  for (const std::string wrong_in : {"frames", "nan", "decoding", "bound", "unbiased"}) {
    const TriedCodec tried = try_codec("mutant_identity:wrong=" + wrong_in, *backend).back();
    ASSERT_FALSE(tried.violations.empty()) << wrong_in;
    EXPECT_EQ(tried.violations.front().invariant, wrong_in == "nan" ? "frames" : wrong_in);
  }
}

TEST(Codecs, AreHeldToTheirBoundByVectorsThatHurt) {
  const auto backend = Backends::make(threads(ranks_per_node));
  const auto found = [&](const std::string& declared) {
    std::string text;
    for (const TriedCodec& tried : try_codec("mutant_four_bits:declares=" + declared, *backend))
      text += text_of(tried.violations, "");
    return text;
  };
  for (const std::string too_little : {"0.008", "0.3"}) {
    EXPECT_NE(found(too_little).find("bound: 33 elements: the mean error is 0.32631"), std::string::npos)
        << too_little << "\n"
        << found(too_little);
  }
  EXPECT_EQ(found("0.3263158"), "");
}

TEST(Costs, ArePrintedAsRoundsAndBytes) {
  EXPECT_EQ(::testing::PrintToString(Cost{1, 96}), "1 round, 96 bytes");
  EXPECT_EQ(::testing::PrintToString(Cost{6, 1}), "6 rounds, 1 byte");
  EXPECT_EQ(::testing::PrintToString(all_places(ranks_per_node).front()), all_places(ranks_per_node).front().name);
}

}  // namespace
}  // namespace trigram::testing
