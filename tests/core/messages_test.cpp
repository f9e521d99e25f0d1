// Messages: made only when they are wanted, of values that a terminal can show, with the name that was meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/registry/registry.hpp"
#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Messages, AreMadeOfTheirPartsOnlyWhenAConditionFails) {
  int made = 0;
  const auto text = [&made] {
    ++made;
    return std::string("element");
  };
  ensure(true, text);
  require(true, "no ", text);
  EXPECT_EQ(made, 0);
  EXPECT_THAT([&] { ensure(false, text, " ", 3, " of ", std::int64_t{7}, ", ", 0.25); },
              ThrowsMessage<Error>("element 3 of 7, 0.25"));
  EXPECT_THAT([&] { require(false, text, std::string(" is gone")); }, ThrowsMessage<UsageError>("element is gone"));
  EXPECT_EQ(made, 2);
}

TEST(Messages, ShowValuesThatATerminalWouldObey) {
  EXPECT_EQ(in_quotes("plain, with µ and 语"), "'plain, with µ and 语'");
  EXPECT_EQ(in_quotes("a\nb\tc\r\x1b[2J\x7f"), "'a\\nb\\tc\\r\\x1b[2J\\x7f'");
  EXPECT_EQ(in_quotes(std::string_view("\0", 1)), "'\\x00'");
  EXPECT_EQ(in_quotes("\xc2\x9b"), "'\\xc2\\x9b'") << "a control character of two bytes";
  EXPECT_EQ(in_quotes("\xff\xc0\xaf\xed\xa0\x80\xe4\xb8"), "'\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xe4\\xb8'");
}

TEST(Messages, CutValuesThatNobodyWouldRead) {
  const std::string text = in_quotes(std::string(100'000, 'x'));
  EXPECT_EQ(text, "'" + std::string(120, 'x') + "'... (100000 bytes)");
  EXPECT_EQ(shown(std::string(119, 'x') + "µµ"), std::string(119, 'x') + "... (123 bytes)") << "no half character";
}

TEST(Messages, SayWhichNameWasMeant) {
  const std::vector<std::string> known = {"all_reduce", "bytegrad", "one_bit_adam", "qsgd", "ring"};
  EXPECT_EQ(did_you_mean("qsdg", known), " (did you mean 'qsgd'?)");
  EXPECT_EQ(did_you_mean("ALL-REDUCE", known), " (did you mean 'all_reduce'?)");
  EXPECT_EQ(did_you_mean("one_bit", known), " (did you mean 'one_bit_adam'?)");
  EXPECT_EQ(did_you_mean("bytgrad", known), " (did you mean 'bytegrad'?)");
  EXPECT_EQ(did_you_mean("moon", known), "");
  EXPECT_EQ(did_you_mean("", known), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'q'), known), "");
  EXPECT_THAT(
      [&] { throw_unknown_name("algorithm", "qsdg", known); },
      ThrowsMessage<UsageError>(HasSubstr("unknown algorithm 'qsdg' (did you mean 'qsgd'?); this build has: ")));
}

}  // namespace
}  // namespace trigram
