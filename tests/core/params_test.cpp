// Parameters: the one syntax, its types, and what is said to those who miss it.
#include "core/registry/params.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"

namespace trigram {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Body>
std::string refusal(const Body& body) {
  try {
    body();
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(Params, ReadsEveryType) {
  Params params("thing", "flag=on,count=-7,ratio=2.5,word=ring,wait=5us");
  EXPECT_TRUE(params.get("flag", false, ""));
  EXPECT_EQ(params.get("count", std::int64_t{1}, ""), -7);
  EXPECT_EQ(params.get("count", 1, ""), -7);
  EXPECT_DOUBLE_EQ(params.get("ratio", 1.0, ""), 2.5);
  EXPECT_EQ(params.get("word", "torus", ""), "ring");
  EXPECT_DOUBLE_EQ(params.get("wait", "1s", Unit::seconds, ""), 5e-6);
  EXPECT_NO_THROW(params.reject_unknown());
}

TEST(Params, FallsBackToDefaultsAndDeclaresThemInOrder) {
  Params params("thing", "");
  EXPECT_FALSE(params.get("flag", false, "a flag"));
  EXPECT_EQ(params.get("count", 3, "a count"), 3);
  EXPECT_DOUBLE_EQ(params.get("ratio", 0.1, "a ratio"), 0.1);
  EXPECT_DOUBLE_EQ(params.get("size", "10MiB", Unit::bytes, "a size"), 10485760);
  ASSERT_EQ(params.declared().size(), 4U);
  EXPECT_EQ(params.declared()[0].key, "flag");
  EXPECT_EQ(params.declared()[0].fallback, "off");
  EXPECT_EQ(params.declared()[2].fallback, "0.1");
  EXPECT_EQ(params.declared()[3].fallback, "10MiB");
  EXPECT_EQ(params.declared()[3].description, "a size");
}

TEST(Params, ParenthesesHoldCommas) {
  Params params("thing", "codec=(qsgd:levels=4,bucket_size=64),every=2");
  EXPECT_EQ(params.get("codec", "", ""), "qsgd:levels=4,bucket_size=64");
  EXPECT_EQ(params.get("every", 1, ""), 2);
  Params nested("thing", "model=(mlp:data=(csv:train=a))");
  EXPECT_EQ(nested.get("model", "", ""), "mlp:data=(csv:train=a)");
  Params two("thing", "a=(x)(y)");
  EXPECT_EQ(two.get("a", "", ""), "(x)(y)");
}

TEST(Params, NamesWhatIsMalformed) {
  EXPECT_THAT(refusal([] { Params("thing 'x'", "every"); }),
              AllOf(HasSubstr("thing 'x'"), HasSubstr("'every'"), HasSubstr("key=value")));
  EXPECT_THAT(refusal([] { Params("thing", "=3"); }), HasSubstr("'=3'"));
  EXPECT_THAT(refusal([] { Params("thing", "a=1,a=2"); }), HasSubstr("'a' is given twice"));
  EXPECT_THAT(refusal([] { Params("thing", "a=(1"); }), HasSubstr("never closed"));
  EXPECT_THAT(refusal([] { Params("thing", "a=1)"); }), HasSubstr("')' without '('"));
}

TEST(Params, NamesValuesOfAnotherType) {
  Params params("thing", "flag=maybe,count=2.5,big=99999999999,ratio=x,wait=5parsecs");
  EXPECT_THAT(refusal([&] { params.get("flag", true, ""); }), AllOf(HasSubstr("flag=maybe"), HasSubstr("on or off")));
  EXPECT_THAT(refusal([&] { params.get("count", 1, ""); }), AllOf(HasSubstr("count=2.5"), HasSubstr("whole number")));
  EXPECT_THAT(refusal([&] { params.get("big", 1, ""); }), HasSubstr("big=99999999999"));
  EXPECT_THAT(refusal([&] { params.get("ratio", 1.0, ""); }), HasSubstr("ratio=x"));
  EXPECT_THAT(refusal([&] { params.get("wait", "1s", Unit::seconds, ""); }),
              AllOf(HasSubstr("wait"), HasSubstr("5parsecs"), HasSubstr("us")));
}

TEST(Params, NamesTheRangeThatAValueLeaves) {
  Params params("thing", "count=0,rate=2,noise=inf,decay=nan,size=2GB,steps=9");
  EXPECT_THAT(refusal([&] { params.get("count", 1, "", {.least = 1}); }),
              HasSubstr("thing: count=0 is not a whole number of 1 or more"));
  EXPECT_THAT(refusal([&] {
                params.get("steps", 1, "", {1, 8});
              }),
              HasSubstr("steps=9 is not a whole number from 1 to 8"));
  EXPECT_THAT(refusal([&] { params.get("rate", 0.5, "", {0, 1}); }), HasSubstr("rate=2 is not a number from 0 to 1"));
  EXPECT_THAT(refusal([&] { params.get("noise", 0.5, ""); }), HasSubstr("noise=inf is not a number"));
  EXPECT_THAT(refusal([&] { params.get("decay", 0.5, ""); }), HasSubstr("decay=nan is not a number"));
  EXPECT_THAT(refusal([&] {
                params.get("size", "1MB", Unit::bytes, "", {0, 1e9});
              }),
              HasSubstr("size=2GB is not a quantity from 0B to 1GB"));
}

TEST(Params, TakesTimeInProportionToItsText) {
  const std::string value(100'000, 'x');
  Params params("thing", "a=" + value + ",b=(" + value + ")");
  EXPECT_EQ(params.get("b", "", ""), value);
  const std::string deep = std::string(5'000, '(') + std::string(5'000, ')');
  EXPECT_THAT(refusal([&] { Params("thing", "a=" + deep); }),
              HasSubstr("more than 32 parentheses are inside each other"));
  EXPECT_THAT(refusal([&] { Params("thing", value); }),
              AllOf(HasSubstr("(100000 bytes)"), ::testing::SizeIs(::testing::Lt(300U))));
}

TEST(Params, TellsHowToWriteANumberWithCommas) {
  EXPECT_THAT(refusal([] { Params("thing", "steps=1,000"); }), HasSubstr("(1,000)"));
  Params params("thing", "steps=(1,000)");
  EXPECT_EQ(params.get("steps", 1, ""), 1000);
}

TEST(Params, NamesUnknownKeysAndThoseThatExist) {
  Params params("thing", "evry=2");
  params.get("every", 1, "");
  params.get("mix", "before", "");
  EXPECT_THAT(refusal([&] { params.reject_unknown(); }),
              AllOf(HasSubstr("'evry' (did you mean 'every'?)"), HasSubstr("takes: every mix")));
}

TEST(Spec, IsANameAndParameters) {
  EXPECT_EQ(Spec::parse("ring").name, "ring");
  EXPECT_EQ(Spec::parse("ring").parameters, "");
  EXPECT_EQ(Spec::parse("a:b=(c:d=1)").name, "a");
  EXPECT_EQ(Spec::parse("a:b=(c:d=1)").parameters, "b=(c:d=1)");
  EXPECT_EQ(Spec::parse(":a=1").name, "") << "which whoever knows what is named refuses";
}

}  // namespace
}  // namespace trigram
