// The conformance suites, on GPUs, and what they do not do.
#include "meeting/member.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/run_ranks.hpp"
#include "tests/support/unsupported.hpp"

namespace trigram {

std::vector<std::string> tested_backends() {
  return {"gpu:timeout=60s", "gpu:timeout=60s,ranks_per_node=2,collectives=vendor"};
}

namespace testing {
namespace {

std::vector<Unsupported> everywhere() {
  std::vector<Unsupported> all{
      {"PhantomsGoThroughEverything", "", "only real data travel on a real network"},
      {"AnErrorNextToABlockedLaneEndsTheRun", "",
       "a body is ordered, not run: its lane blocks nobody; see failing jobs"},
      {"MessagesOfOneAreNotHandedToAnother", "", "lanes are started in one order on all ranks: none overtakes another"},
      {"IdenticalBitsOnEveryBackend", "collectives=vendor", "NCCL adds in an order of its own"},
      {"RingAddsRanksInTheDocumentedOrder", "collectives=vendor", "NCCL adds in an order of its own"},
  };
  for (const char* test :
       {"ARankThatDoesSomethingElseAnswersEverybody", "EverybodyAsksEverybodyAtOnceFromTwoLanes",
        "WhatIsTooEarlyIsRepliedLater", "RepliesToALaneAreNotHandedToAnother", "NeverRunBesideAnExclusiveBody",
        "AServiceThatFailsEndsTheRunWithItsOwnError", "ThoseWhoAskCountTheRanksOfTheirLine"}) {
    all.push_back({test, "", "NCCL sends only what its receiver expects: methods that ask are refused"});
  }
  return all;
}

std::vector<Unsupported> here() {
  std::vector<Unsupported> all = everywhere();
  if (member_of(launcher_environment())) {
    for (const char* test : {"AFailingRankReleasesTheOthersAndKeepsItsTypeAndText", "PeersOutOfRangeAreTheCallersError",
                             "AnUnknownAllReduceIsRefused", "ARunCanBeRepeatedAfterSuccessAndFailure"}) {
      all.push_back({test, "", "a launched rank that fails ends the job; forked ranks do this"});
    }
  }
  return all;
}

}  // namespace

std::vector<Place> all_places(int ranks_per_node) {
  const std::string gpu = "gpu:timeout=60s,ranks_per_node=" + std::to_string(ranks_per_node);
  return {{"gpu", gpu, true}, {"gpu_vendor", gpu + ",collectives=vendor", false}};
}

const std::vector<Unsupported>& unsupported() {
  static const std::vector<Unsupported> all = here();
  return all;
}

}  // namespace testing
}  // namespace trigram
