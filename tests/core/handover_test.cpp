// Every fate, item by item: what a rank of a new world goes on from, where others leave and join.
#include "core/training/handover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/device/on_host.hpp"
#include "core/step/handed_state.hpp"
#include "core/training/rank_report.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;
constexpr int newcomer = MemberChange::newcomer;

class HandoverTest : public ::testing::Test {
 protected:
  using Values = std::vector<float>;
  using Bytes = std::vector<std::byte>;
  using List = std::function<void(State&)>;

  OwnedBuffer buffer(const Values& values) { return on_device(device_, values); }
  Values values_of(const OwnedBuffer& x) { return on_host<float>(device_, x); }
  Bytes written(const List& list) {
    Packer packer;
    StateWriter writer(device_, packer);
    list(writer);
    return std::move(packer).bytes();
  }
  /// One buffer a rank, of that fate.
  void hold(Fate fate, const std::vector<Values>& all, const std::vector<Extent>& extents = {}) {
    states_.clear();
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const OwnedBuffer x = buffer(all[rank]);
      states_.push_back(
          written([&](State& state) { state.buffer("x", x, fate, extents.empty() ? Extent{} : extents[rank]); }));
    }
  }
  Handover handover(const std::vector<int>& were) {
    const int ranks = static_cast<int>(states_.size());
    return {{ranks, ranks, were, static_cast<int>(were.size())},
            [this](int rank) { return states_[static_cast<std::size_t>(rank)]; }};
  }
  /// What each new rank has then, where setup gave it `made`.
  std::vector<Values> after(const std::vector<int>& were, const Values& made = {-1}, Extent extent = {}) {
    const Handover over = handover(were);
    std::vector<Values> all;
    for (int rank = 0; rank < static_cast<int>(were.size()); ++rank) {
      const OwnedBuffer x = buffer(made);
      HandedState state(device_, over.of(rank));
      state.buffer("x", x, Fate::alike, extent);
      all.push_back(values_of(x));
    }
    return all;
  }

  Timeline timeline_{[] { return 0.0; }, false};
  Device device_{cpu_kernels(), timeline_};
  std::vector<Bytes> states_;
};

TEST_F(HandoverTest, WhatIsAlikeIsAnybodys) {
  hold(Fate::alike, {{7}, {7}});
  EXPECT_THAT(after({1, newcomer, 0}), ElementsAre(Values{7}, Values{7}, Values{7}));
  hold(Fate::alike, {{7}, {8}});
  EXPECT_THAT([&] { handover({0}); },
              ThrowsMessage<UsageError>("rank 1 holds another 'x' than rank 0, which list_state() says that all hold "
                                        "alike"));
}

// A bucket of vectors has no matrix, and the next one has.
TEST_F(HandoverTest, WhatNobodyHoldsKeepsThePlaceOfThoseBehindIt) {
  states_.assign(3, written([&](State& state) {
                   state.buffer("x", buffer({}), Fate::alike);
                   state.buffer("x", buffer({7, 8}), Fate::alike);
                 }));
  const Handover over = handover({0, 2});
  const OwnedBuffer none = buffer({}), some = buffer({-1, -1});
  HandedState state(device_, over.of(1));
  state.buffer("x", none, Fate::alike);
  state.buffer("x", some, Fate::alike);
  EXPECT_THAT(values_of(some), ElementsAre(7, 8));
}

TEST_F(HandoverTest, WhatIsOwnStaysAndNewcomersBeginWithTheMean) {
  hold(Fate::own, {{1}, {2}, {6}});
  EXPECT_THAT(after({2, newcomer, 0}), ElementsAre(Values{6}, Values{3}, Values{1}));
}

TEST_F(HandoverTest, WhatIsAveragedIsTheMeanOverAllOfThem) {
  hold(Fate::averaged, {{1}, {2}, {6}});
  EXPECT_THAT(after({1, 2}), ElementsAre(Values{3}, Values{3}));
}

TEST_F(HandoverTest, WhatIsBalancedKeepsItsMean) {
  hold(Fate::balanced, {{1}, {2}, {6}});
  EXPECT_THAT(after({1, 2}), ElementsAre(Values{1}, Values{5})) << "both moved by 1";
  EXPECT_THAT(after({1, 2, newcomer, newcomer}), ElementsAre(Values{1.5}, Values{5.5}, Values{2.5}, Values{2.5}));
  EXPECT_THAT(after({0, 1, 2, newcomer}), ElementsAre(Values{1}, Values{2}, Values{6}, Values{3})) << "nobody left";
}

// Its sum over ranks lacks a part that nobody knows.
TEST_F(HandoverTest, WhatIsJointBeginsAnewWhereARankIsLost) {
  hold(Fate::joint, {{1}, {2}, {6}});
  EXPECT_THAT(after({1, 2}), ElementsAre(Values{1}, Values{5})) << "both moved by 1";
  const Handover over({3, 3, {1, 2}, 2, {0}}, [this](int rank) { return states_[static_cast<std::size_t>(rank)]; });
  const OwnedBuffer x = buffer({-1});
  HandedState(device_, over.of(0)).buffer("x", x, Fate::joint, {0, 1});
  EXPECT_EQ(values_of(x), Values{-1}) << "as it was made";
}

TEST_F(HandoverTest, WhatAllHoldAlikeKeepsItsBits) {
  const float third = 1.0F / 3;
  for (const Fate fate : {Fate::alike, Fate::own, Fate::averaged, Fate::balanced}) {
    hold(fate, {{third}, {third}, {third}, {third}, {third}, {third}, {third}});
    EXPECT_THAT(after({6, newcomer, 0}), ElementsAre(Values{third}, Values{third}, Values{third}));
  }
}

TEST_F(HandoverTest, WhatALostRankHeldIsGone) {
  const auto without_rank_0 = [&] {
    const Handover over({3, 3, {1, 2}, 2, {0}}, [this](int rank) { return states_[static_cast<std::size_t>(rank)]; });
    const OwnedBuffer x = buffer({-1});
    HandedState state(device_, over.of(0));
    state.buffer("x", x, Fate::own, {0, 1});
    return values_of(x);
  };
  hold(Fate::averaged, {{1}, {2}, {6}});
  EXPECT_EQ(without_rank_0(), Values{4});
  hold(Fate::balanced, {{1}, {2}, {6}});
  EXPECT_EQ(without_rank_0(), Values{2}) << "nobody who is known has left";
  hold(Fate::balanced, {{1}, {2}, {6}, {7}});
  const Handover over({4, 4, {1, 2}, 2, {0}}, [this](int rank) { return states_[static_cast<std::size_t>(rank)]; });
  const OwnedBuffer x = buffer({-1});
  HandedState state(device_, over.of(0));
  state.buffer("x", x);
  EXPECT_EQ(values_of(x), Values{3}) << "one left in order: the mean over those who are known is 5";
  hold(Fate::cut, {{1}, {2}, {}}, {{0, 2}, {1, 2}, {}});
  EXPECT_EQ(without_rank_0(), Values{-1}) << "setup makes what nobody has whole";
}

TEST_F(HandoverTest, WhoTrainedApartGoesOnFromItsOwnAndFromWhatTheOthersHoldAlike) {
  const auto with_rank_2_apart = [&](const std::vector<int>& were) {
    const int train = static_cast<int>(were.size());
    const Handover over({3, 3, were, train, {}, {2}},
                        [this](int rank) { return states_[static_cast<std::size_t>(rank)]; });
    Values all;
    for (int rank = 0; rank < train; ++rank) {
      const OwnedBuffer x = buffer({-1});
      HandedState state(device_, over.of(rank));
      state.buffer("x", x, Fate::own, {0, 1});
      all.push_back(values_of(x).front());
    }
    return all;
  };
  hold(Fate::alike, {{7}, {7}, {9}});
  EXPECT_THAT(with_rank_2_apart({0, 1, 2}), ElementsAre(7, 7, 7)) << "though nobody has left or joined";
  hold(Fate::own, {{1}, {2}, {6}});
  EXPECT_THAT(with_rank_2_apart({0, 1, 2, newcomer}), ElementsAre(1, 2, 6, 3));
  hold(Fate::balanced, {{1}, {2}, {6}});
  EXPECT_THAT(with_rank_2_apart({0, 1, 2, newcomer}), ElementsAre(1, 2, 6, 3));
  hold(Fate::averaged, {{1}, {2}, {6}});
  EXPECT_THAT(with_rank_2_apart({0, 1, 2}), ElementsAre(3, 3, 3));
}

TEST_F(HandoverTest, WhatIsCutIsCutAnew) {
  hold(Fate::cut, {{1, 2}, {3}, {}}, {{0, 3}, {2, 3}, {}});
  EXPECT_THAT(after({newcomer}, {0, 0, 0}), ElementsAre(Values{1, 2, 3}));
  EXPECT_THAT(after({2, 1}, {0, 0}, {1, 3}), ElementsAre(Values{2, 3}, Values{2, 3}));
  EXPECT_THAT(
      [&] {
        after({0}, {0, 0}, {0, 4});
      },
      ThrowsMessage<UsageError>("the checkpoint holds 3 of 3 elements of 'x', and here they are 2 of 4, which "
                                "were not cut like that; go on with as many ranks, on nodes of the same size"));
  hold(Fate::cut, {{1}, {3}}, {{0, 3}, {2, 3}});
  EXPECT_THAT([&] { handover({0}); },
              ThrowsMessage<UsageError>("nobody holds element 1 of 'x', whose parts ranks keep"));
}

TEST_F(HandoverTest, PartsThatSeveralHoldAreAveragedWhereTheyLie) {
  hold(Fate::balanced, {{1, 2}, {5}, {3, 4}, {7}}, {{0, 3}, {2, 3}, {0, 3}, {2, 3}});
  EXPECT_THAT(after({2, 3}, {0, 0, 0}), ElementsAre(Values{2, 3, 6}, Values{2, 3, 6}));
  hold(Fate::averaged, {{1, 2}, {5}, {3, 4}, {7}}, {{0, 3}, {2, 3}, {0, 3}, {2, 3}});
  EXPECT_THAT(after({0, 1}, {0, 0, 0}), ElementsAre(Values{2, 3, 6}, Values{2, 3, 6}));
  EXPECT_THAT(after({0}, {0}, {1, 3}), ElementsAre(Values{3}));
}

TEST_F(HandoverTest, WhatIsMadeAnewStaysAsSetupLeftIt) {
  hold(Fate::anew, {{1}, {2}});
  EXPECT_THAT(after({0, 1, newcomer}), ElementsAre(Values{-1}, Values{-1}, Values{-1}));
}

TEST_F(HandoverTest, WhereNobodyChangesEachGoesOnFromWhatItHeld) {
  for (const Fate fate : {Fate::own, Fate::averaged, Fate::balanced, Fate::anew}) {
    hold(fate, {{1}, {2}, {}});
    EXPECT_THAT(after({0, 1, 2}), ElementsAre(Values{1}, Values{2}, Values{-1}));
  }
}

TEST_F(HandoverTest, OnlySomeRanksMayHoldAnItem) {
  hold(Fate::own, {{}, {5}, {}});
  EXPECT_THAT(after({0, 1, newcomer}), ElementsAre(Values{5}, Values{5}, Values{5}));
  hold(Fate::averaged, {{}});
  EXPECT_THAT(after({0, newcomer}), ElementsAre(Values{-1}, Values{-1})) << "a rank alone owes nothing";
}

TEST_F(HandoverTest, WhoIsAloneGetsRoomForWhatOthersOwed) {
  hold(Fate::averaged, {{1}, {4}});
  OwnedBuffer x, y;
  HandedState state(device_, handover({1}).of(0));
  state.room("x", x, Shape::of(1, DType::f32), Fate::averaged).room("y", y, Shape::of(1, DType::f32), Fate::averaged);
  EXPECT_EQ(values_of(x), Values{2.5});
  EXPECT_TRUE(y.view().empty());
}

TEST_F(HandoverTest, WeightsComeWithTheirMean) {
  for (const float weight : {1.0F, 4.0F}) {
    const OwnedBuffer x = buffer({weight});
    states_.push_back(written([&](State& state) { state.buffer("weights 0", x, Fate::balanced); }));
  }
  const OwnedBuffer x = buffer({0});
  HandedState state(device_, handover({1}).of(0));
  state.buffer("mean of weights 0", x);
  EXPECT_EQ(values_of(x), Values{2.5});
}

TEST_F(HandoverTest, WhoServedHasNoSayButInWhatIsCut) {
  for (const float rank : {0.0F, 1.0F, 2.0F}) {
    const OwnedBuffer x = buffer({rank}), y = buffer({rank});
    const bool serves = rank == 2;
    states_.push_back(written([&](State& state) {
      state.buffer("x", x, Fate::own);
      state.buffer("y", serves ? y.view() : Buffer(), Fate::cut, {0, 1});
    }));
  }
  const Handover over({3, 2, {2, 1, 0}, 2}, [this](int rank) { return states_[static_cast<std::size_t>(rank)]; });
  const auto of = [&](int rank) {
    const OwnedBuffer x = buffer({-1}), y = buffer({-1});
    HandedState state(device_, over.of(rank));
    state.buffer("x", x).buffer("y", y);
    return Values{values_of(x).front(), values_of(y).front()};
  };
  EXPECT_EQ(of(0), (Values{0.5, 2})) << "served, and trains now";
  EXPECT_EQ(of(1), (Values{1, 2}));
}

TEST_F(HandoverTest, ItemsOfOneNameAreTakenInTheirOrder) {
  const OwnedBuffer a = buffer({1}), b = buffer({2}), other = buffer({0});
  states_.push_back(written([&](State& state) { state.buffer("x", a).buffer("x", b); }));
  HandedState state(device_, handover({0}).of(0));
  state.buffer("x", other);
  EXPECT_EQ(values_of(other), Values{1});
  state.buffer("x", other).buffer("x", other);
  EXPECT_EQ(values_of(other), Values{2}) << "there is no third";
}

TEST_F(HandoverTest, RowsStayWithTheirRanksAndANewcomerHasNone) {
  for (int rank = 0; rank < 2; ++rank) {
    RankReport report;
    report.rank = rank;
    report.steps_done = 3;
    report.steps.resize(static_cast<std::size_t>(rank) + 1);
    report.evals.resize(1);
    report.evals.front().step = rank;
    states_.push_back(written([&](State& state) {
      state.packed(
          "own report", [&] { return pack(report); }, [](const auto&) {}, Fate::own);
    }));
  }
  const Handover over = handover({1, newcomer});
  const auto report = [&](int rank) {
    RankReport read;
    HandedState state(device_, over.of(rank));
    state.packed(
        "own report", [] { return Bytes(); }, [&](const Bytes& bytes) { read = unpack(bytes); });
    return read;
  };
  EXPECT_EQ(report(0).steps.size(), 2U);
  EXPECT_EQ(report(0).evals.size(), 2U) << "of all, with rank 0";
  EXPECT_EQ(report(1).steps.size(), 0U);
  EXPECT_EQ(report(1).steps_done, 3);
}

}  // namespace
}  // namespace trigram
