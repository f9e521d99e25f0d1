// Names that stand for a product with parameters.
#include "core/registry/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trigram::testing::registry_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps what it was made with.
struct Tea {
  static constexpr const char* registry_kind = "tea";
  std::int64_t minutes = 0;
  std::string with;
};
using Teas = Registry<Tea>;

const Teas::Registration green("green", {"leaves that were never oxidised"}, [](Params& params) {
  auto tea = std::make_unique<Tea>();
  tea->minutes = params.get("minutes", std::int64_t{2}, "minutes in the water", {1, 60});
  tea->with = params.get("with", "nothing", "what is added");
  return tea;
});
const Teas::Composition maghrebi("maghrebi", "green:minutes=15,with=(mint:stalks=2,sugar=on)", {"of the Maghreb"});
const Teas::Composition plain_maghrebi("plain_maghrebi", "maghrebi:with=mint", {"without sugar"});

std::string refusal_of(const std::string& spec) {
  try {
    Teas::make(spec);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Compositions, AreMadeAsWhatTheyStandFor) {
  const auto tea = Teas::make("maghrebi");
  EXPECT_EQ(tea->minutes, 15);
  EXPECT_EQ(tea->with, "mint:stalks=2,sugar=on");
}

TEST(Compositions, YieldToParametersThatAreGiven) {
  const auto tea = Teas::make("maghrebi:minutes=3");
  EXPECT_EQ(tea->minutes, 3);
  EXPECT_EQ(tea->with, "mint:stalks=2,sugar=on");
}

TEST(Compositions, StandForOthersAsWell) {
  EXPECT_EQ(Teas::make("plain_maghrebi")->minutes, 15);
  EXPECT_EQ(Teas::make("plain_maghrebi")->with, "mint");
}

TEST(Compositions, ExpandToTheProductWithAllParameters) {
  EXPECT_EQ(Teas::expanded("maghrebi"), "green:minutes=15,with=(mint:stalks=2,sugar=on)");
  EXPECT_EQ(Teas::expanded("plain_maghrebi:minutes=3"), "green:minutes=3,with=mint");
  EXPECT_EQ(Teas::expanded("green:with=(a,b)"), "green:with=(a,b)");
  EXPECT_EQ(Teas::expanded("green"), "green");
}

TEST(Compositions, DeclareTheirOwnDefaults) {
  const auto declared = Teas::parameters("maghrebi");
  ASSERT_EQ(declared.size(), 2U);
  EXPECT_EQ(declared[0].fallback, "15");
  EXPECT_EQ(declared[1].fallback, "mint:stalks=2,sugar=on");
  EXPECT_EQ(Teas::parameters("green")[0].fallback, "2");
}

TEST(Compositions, RefuseByTheirName) {
  EXPECT_EQ(refusal_of("maghrebi:minute=3"),
            "tea 'maghrebi' has no parameter 'minute' (did you mean 'minutes'?); it takes: minutes with");
  EXPECT_EQ(refusal_of("maghrebi:minutes=soon"),
            "tea 'maghrebi': minutes=soon is not a whole number from 1 to 60, as "
            "1000, 1,000 or 1k");
  EXPECT_THAT(refusal_of("magrebi"), HasSubstr("did you mean 'maghrebi'?"));
}

TEST(Compositions, AreNamesBesideTheProductsOwn) {
  EXPECT_THAT(Teas::names(), ElementsAre("green", "maghrebi", "plain_maghrebi"));
  EXPECT_THAT(Teas::own_names(), ElementsAre("green"));
  EXPECT_EQ(Teas::stands_for("plain_maghrebi"), "maghrebi:with=mint");
  EXPECT_EQ(Teas::stands_for("green"), "");
  EXPECT_THROW(Teas::Composition("green", "maghrebi", {"taken"}), Error);
}

}  // namespace
}  // namespace trigram::testing::registry_test
