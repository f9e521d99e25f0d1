// Ranks that call collectives by the functions of C: each in closed form, at once and beside, of all ranks and of
// groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "core/values/error.hpp"
#include "tests/session/caller.hpp"

namespace trigram::testing::tensor_group_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int ranks = 4;
constexpr int length = 1000;
using Floats = std::vector<float>;

/// A rank's group of tensors.
class CalledGroup {
 public:
  CalledGroup() {
    const std::string backend = "shared_threads:ranks=" + std::to_string(ranks);
    succeed(trigram_group_open(nlohmann::json{{"backend", backend}, {"all-reduce", "ring"}}.dump().c_str(), &group_));
    rank_ = reply().at("rank");
  }
  ~CalledGroup() { trigram_group_close(group_); }
  CalledGroup(const CalledGroup&) = delete;
  CalledGroup& operator=(const CalledGroup&) = delete;

  operator TensorGroup*() const { return group_; }  // NOLINT(google-explicit-constructor): it is what C is given
  int rank() const { return rank_; }

  struct Asked {
    std::string collective;
    int peer = 0;
    std::string op = "sum";
    int group = 0;
  };
  int call(const Asked& asked, std::vector<Floats*> tensors) {
    return with(asked, tensors, [&](const char* text, const auto* addresses, const auto* counts, int count) {
      return trigram_group_call(group_, asked.group, text, addresses, counts, count);
    });
  }
  int begin(const Asked& asked, std::vector<Floats*> tensors, std::int64_t& begun) {
    return with(asked, tensors, [&](const char* text, const auto* addresses, const auto* counts, int count) {
      return trigram_group_begin(group_, asked.group, text, addresses, counts, count, &begun);
    });
  }

 private:
  template <class Call>
  int with(const Asked& asked, const std::vector<Floats*>& tensors, const Call& call) {
    const nlohmann::json text = {
        {"collective", asked.collective},   {"op", asked.op}, {"peer", asked.peer}, {"dtype", "f32"},
        {"peers", nlohmann::json::array()}, {"sent", 0}};
    std::vector<std::uint64_t> addresses;
    std::vector<std::int64_t> counts;
    for (Floats* tensor : tensors) {
      addresses.push_back(reinterpret_cast<std::uintptr_t>(tensor->data()));
      counts.push_back(static_cast<std::int64_t>(tensor->size()));
    }
    return call(text.dump().c_str(), addresses.data(), counts.data(), static_cast<int>(tensors.size()));
  }

  TensorGroup* group_ = nullptr;
  int rank_ = 0;
};

Floats filled(int value, int count = length) {
  return Floats(static_cast<std::size_t>(count), static_cast<float>(value));
}

/// The memory of each of several tensors.
std::vector<Floats*> each(std::vector<Floats>& tensors) {
  std::vector<Floats*> all;
  for (Floats& tensor : tensors) all.push_back(&tensor);
  return all;
}

TEST(Groups, CollectivesOfAllRanks) {
  on_ranks(ranks, [] {
    CalledGroup group;
    const int own = group.rank();
    Floats x = filled(own);
    succeed(group.call({"all_reduce"}, {&x}));
    EXPECT_THAT(x, Each(6.0F));
    x = filled(own);
    succeed(group.call({"all_reduce", 0, "max"}, {&x}));
    EXPECT_THAT(x, Each(3.0F));
    x = filled(own);
    succeed(group.call({"broadcast", 2}, {&x}));
    EXPECT_THAT(x, Each(2.0F));
    std::vector<Floats> parts{filled(9), filled(9), filled(9), filled(9)};
    parts[static_cast<std::size_t>(own)] = filled(own);
    succeed(group.call({"all_gather_parts"}, each(parts)));
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_THAT(parts[static_cast<std::size_t>(rank)], Each(static_cast<float>(rank)));
    std::vector<Floats> both;
    for (int rank = 0; rank < ranks; ++rank) both.push_back(filled(10 * own + rank));
    for (int rank = 0; rank < ranks; ++rank) both.push_back(filled(-1));
    succeed(group.call({"all_to_all"}, each(both)));
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_THAT(both[static_cast<std::size_t>(ranks + rank)], Each(static_cast<float>(10 * rank + own)));
    x = filled(own);
    succeed(group.call({"reduce_scatter"}, {&x}));
    std::int64_t begin = 0, end = 0;
    trigram_chunk(length, ranks, own, &begin, &end);
    EXPECT_THAT(std::vector<float>(x.begin() + begin, x.begin() + end), Each(6.0F));
    succeed(group.call({"barrier"}, {}));
    succeed(trigram_group_leave(group));
    EXPECT_EQ(trigram_group_has_ended(group), 1);
    EXPECT_THAT(message_of(group.call({"barrier"}, {})), HasSubstr("the communicator has ended"));
    EXPECT_THAT(message_of(trigram_group_leave(group)), HasSubstr("the communicator has ended"));
  });
}

TEST(Groups, MessagesOfTwoRanks) {
  on_ranks(ranks, [] {
    CalledGroup group;
    const bool sends = group.rank() % 2 == 0;
    Floats x = filled(group.rank());
    succeed(group.call({sends ? "send" : "receive", group.rank() + (sends ? 1 : -1)}, {&x}));
    EXPECT_THAT(x, Each(static_cast<float>(group.rank() / 2 * 2)));
    succeed(trigram_group_leave(group));
  });
}

TEST(Groups, WhatIsBegunRunsBesideWhatIsCalled) {
  on_ranks(ranks, [] {
    CalledGroup group;
    std::vector<Floats> beside(8, filled(group.rank()));
    std::vector<std::int64_t> begun(beside.size());
    for (std::size_t i = 0; i < beside.size(); ++i) succeed(group.begin({"all_reduce"}, {&beside[i]}, begun[i]));
    Floats x = filled(group.rank());
    for (int turn = 0; turn < 8; ++turn) succeed(group.call({"all_reduce", 0, "mean"}, {&x}));
    EXPECT_THAT(x, Each(1.5F));
    int done = 0;
    while (done == 0) succeed(trigram_group_done(group, begun.back(), &done));
    for (std::size_t i = 0; i < beside.size(); ++i) {
      succeed(trigram_group_wait(group, begun[i]));
      EXPECT_THAT(beside[i], Each(6.0F));
      succeed(trigram_group_wait(group, begun[i]));  // again, which is nothing
    }
    succeed(group.begin({"all_reduce"}, {&x}, begun[0]));
    succeed(trigram_group_leave(group));  // which waits
    EXPECT_THAT(x, Each(6.0F));
  });
}

/// What a call that encodes is told.
std::string encoded(const std::string& codec, const std::string& op = "sum") {
  return nlohmann::json{{"codec", codec}, {"seed", 1}, {"step", 2}, {"bucket", 3}, {"chunk", 4}, {"op", op}}.dump();
}

/// A number for each rank, so many times.
Floats by_rank(const std::function<float(int rank)>& value, int each) {
  Floats all;
  for (int rank = 0; rank < ranks; ++rank) all.insert(all.end(), static_cast<std::size_t>(each), value(rank));
  return all;
}

TEST(Groups, EncodedPartsComeToAllRanks) {
  on_ranks(ranks, [] {
    constexpr int each = 5000;  // of which chunks of collectives would not be alike
    CalledGroup group;
    const int own = group.rank();
    const auto value = [](int rank) { return 1.001F * static_cast<float>(rank + 1); };
    const Floats halves{1.0009765625F, 2.001953125F, 3.00390625F, 4.00390625F};  // the nearest of 11 bits
    for (const auto& [codec, bytes] : std::map<std::string, int>{{"identity", 4 * each}, {"fp16", 2 * each}}) {
      Floats x = by_rank([&](int rank) { return rank == own ? value(rank) : 7; }, each);
      std::int64_t sent = 0, frame = 0;
      succeed(trigram_group_gather_encoded(group, 0, encoded(codec).c_str(), reinterpret_cast<std::uintptr_t>(x.data()),
                                           std::ssize(x), &sent));
      succeed(trigram_codec_bytes(codec.c_str(), each, &frame));
      EXPECT_EQ(frame, bytes);
      EXPECT_EQ(sent, (ranks - 1) * bytes);
      const bool is_exact = codec == "identity";
      EXPECT_EQ(x, by_rank([&](int rank) { return is_exact ? value(rank) : halves.at(static_cast<std::size_t>(rank)); },
                           each));
    }
    succeed(trigram_group_leave(group));
  });
}

TEST(Groups, EncodedNumbersAreAddedWhereTheyBelong) {
  on_ranks(ranks, [] {
    constexpr int each = 5000;
    CalledGroup group;
    const int own = group.rank();
    for (const auto& [op, divisor] : std::map<std::string, float>{{"sum", 1.0F}, {"mean", 4.0F}}) {
      Floats x = by_rank([&](int rank) { return static_cast<float>(10 * rank + own); }, each);
      std::int64_t sent = 0;
      succeed(trigram_group_reduce_encoded(group, 0, encoded("fp16", op).c_str(),
                                           reinterpret_cast<std::uintptr_t>(x.data()), std::ssize(x), &sent));
      EXPECT_EQ(sent, (ranks - 1) * 2 * each);
      const Floats expected = by_rank(
          [&](int rank) {
            return static_cast<float>(rank == own ? 40 * rank + 6 : 10 * rank + own) / (rank == own ? divisor : 1);
          },
          each);
      EXPECT_EQ(x, expected);
    }
    Floats x = filled(own);
    std::int64_t sent = 0;
    EXPECT_THAT(
        message_of(trigram_group_reduce_encoded(group, 0, encoded("bf17").c_str(),
                                                reinterpret_cast<std::uintptr_t>(x.data()), std::ssize(x), &sent)),
        HasSubstr("unknown codec 'bf17'"));
    EXPECT_THAT(message_of(trigram_group_gather_encoded(group, 0, encoded("fp16").c_str(),
                                                        reinterpret_cast<std::uintptr_t>(x.data()), 7, &sent)),
                HasSubstr("7 elements are not as many of each of 4 ranks"));
    EXPECT_EQ(trigram_group_has_ended(group), 0);
    succeed(trigram_group_leave(group));
  });
}

TEST(Groups, SplitAndSplitAgain) {
  on_ranks(ranks, [] {
    CalledGroup group;
    succeed(trigram_group_split(group, 0, group.rank() % 2, -group.rank()));
    const nlohmann::json place = reply();
    EXPECT_EQ(place, (nlohmann::json{{"group", 1}, {"rank", group.rank() < 2 ? 1 : 0}, {"size", 2}}));
    Floats x = filled(group.rank());
    succeed(group.call({"all_reduce", 0, "sum", 1}, {&x}));
    EXPECT_THAT(x, Each(static_cast<float>(2 + 2 * (group.rank() % 2))));
    succeed(trigram_group_split(group, 1, group.rank(), 0));
    EXPECT_EQ(reply().at("size"), 1);
    succeed(trigram_group_leave(group));
  });
}

TEST(Groups, WhatIsRefusedLeavesThemAsTheyWere) {
  on_ranks(ranks, [] {
    CalledGroup group;
    Floats x = filled(group.rank());
    EXPECT_THAT(message_of(group.call({"broadcast", ranks}, {&x})), HasSubstr("there is no rank 4 among 4"));
    EXPECT_THAT(message_of(group.call({"all_reduce", 0, "product"}, {&x})),
                HasSubstr("unknown reduction 'product'; use sum, mean, min or max"));
    EXPECT_EQ(trigram_group_has_ended(group), 0);
    succeed(group.call({"all_reduce"}, {&x}));
    EXPECT_THAT(x, Each(6.0F));
    succeed(trigram_group_leave(group));
  });
}

TEST(Groups, ARankThatFailsReleasesTheOthers) {
  on_ranks(ranks, [] {
    CalledGroup group;
    Floats x = filled(group.rank());
    std::optional<std::int64_t> begun;
    if (group.rank() == 2) {
      EXPECT_THAT(message_of(group.call({"all_redcue"}, {&x})), HasSubstr("no collective is called 'all_redcue'"));
    } else {
      succeed(group.begin({"barrier"}, {}, begun.emplace()));
      EXPECT_THAT(message_of(group.call({"all_reduce"}, {&x})), HasSubstr("ends since rank 2 failed: "));
    }
    EXPECT_EQ(trigram_group_has_ended(group), 1);
  });
}

}  // namespace
}  // namespace trigram::testing::tensor_group_test
