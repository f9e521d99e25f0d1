// Backends that are wrong in one thing each are found by the probes: the few algorithms that every change tries on
// every backend, where all are tried on threads alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "core/conformance/algorithm_check.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {
namespace {

constexpr int ranks = 4, ranks_per_node = 2;

/// What a probe's trials have to say of a backend.
std::string found_by(const std::string& probe, const std::string& mutation, const std::string& timeout = "200ms") {
  const auto backend = Backends::make("wrong_threads:ranks_per_node=" + std::to_string(ranks_per_node) +
                                      ",mutation=" + mutation + ",timeout=" + timeout);
  const auto reference = Backends::make(threads(ranks_per_node));
  std::string found;
  for (const std::string& spec : trial_specs(probe)) {
    found += text_of(try_algorithm(spec, {*backend, reference.get()}, ranks).violations, spec + ": ");
  }
  return found;
}

/// A mutation of tests/algorithms/wrong_threads.cpp, and a probe that finds it.
struct Found {
  std::string mutation;
  std::string by;
};
void PrintTo(const Found& found, std::ostream* out) { *out << found.mutation << " by " << found.by; }

class WrongBackend : public ::testing::TestWithParam<Found> {};

TEST_P(WrongBackend, IsFoundByAProbe) {
  const Found wrong = GetParam();
  const std::vector<std::string> tried = probes();
  ASSERT_NE(std::ranges::find(tried, wrong.by), tried.end()) << wrong.by << " is no probe";
  const std::string found = found_by(wrong.by, wrong.mutation);
  EXPECT_NE(found, "") << wrong.by << " holds on a backend that " << wrong.mutation;
}

const std::vector<Found> all_found = {{"loses_a_message", "all_reduce"},   {"repeats_a_message", "all_reduce"},
                                      {"cuts_messages", "all_reduce"},     {"takes_another_all_reduce", "all_reduce"},
                                      {"mixes_up_nodes", "all_reduce"},    {"swaps_messages", "decentralized"},
                                      {"serves_twice", "parameter_server"}};

TEST(WrongBackendWithoutAMutation, HoldsInAllThatFindsOne) {
  for (const char* probe : {"all_reduce", "decentralized", "parameter_server"})
    EXPECT_EQ(found_by(probe, "none", "300s"), "") << probe;
}

INSTANTIATE_TEST_SUITE_P(Mutations, WrongBackend, ::testing::ValuesIn(all_found),
                         [](const auto& one) { return one.param.mutation; });

}  // namespace
}  // namespace trigram::testing
