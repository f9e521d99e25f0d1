// Quantities: what people write, in the base unit, and back.
#include "core/values/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"

namespace trigram {
namespace {

TEST(Units, AreReadInTheirBase) {
  EXPECT_DOUBLE_EQ(parse_quantity("10Gbps", Unit::bytes_per_second), 1.25e9);
  EXPECT_DOUBLE_EQ(parse_quantity("150GB/s", Unit::bytes_per_second), 150e9);
  EXPECT_DOUBLE_EQ(parse_quantity("150GBps", Unit::bytes_per_second), 150e9);
  EXPECT_DOUBLE_EQ(parse_quantity("25MiB", Unit::bytes), 26214400);
  EXPECT_DOUBLE_EQ(parse_quantity("25MB", Unit::bytes), 25e6);
  EXPECT_DOUBLE_EQ(parse_quantity("5us", Unit::seconds), 5e-6);
  EXPECT_DOUBLE_EQ(parse_quantity("1.5 ms", Unit::seconds), 1.5e-3);
  EXPECT_DOUBLE_EQ(parse_quantity("15.7TFLOPS", Unit::flops), 15.7e12);
  EXPECT_DOUBLE_EQ(parse_quantity("0", Unit::seconds), 0);
}

TEST(Units, AreNeverGuessed) {
  for (const char* text : {"5", "", "s", "5 seconds", "5S", "-5s", "nan s", "infs", "1e999s", "5us "}) {
    EXPECT_THROW(parse_quantity(text, Unit::seconds), UsageError) << text;
  }
  EXPECT_THROW(parse_quantity("5GB", Unit::bytes_per_second), UsageError);
  EXPECT_THROW(parse_quantity("5mbps", Unit::bytes_per_second), UsageError);
  try {
    parse_quantity("5parsecs", Unit::seconds);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("5parsecs"), ::testing::HasSubstr("ns")));
  }
}

TEST(Units, AreThoseThatPeopleUse) {
  EXPECT_DOUBLE_EQ(parse_quantity("2min", Unit::seconds), 120);
  EXPECT_DOUBLE_EQ(parse_quantity("1.5h", Unit::seconds), 5400);
  EXPECT_DOUBLE_EQ(parse_quantity("5µs", Unit::seconds), 5e-6);
  EXPECT_DOUBLE_EQ(parse_quantity("10Gbit/s", Unit::bytes_per_second), 1.25e9);
  EXPECT_DOUBLE_EQ(parse_quantity("10Gb/s", Unit::bytes_per_second), 1.25e9);
  EXPECT_DOUBLE_EQ(parse_quantity("1GiB/s", Unit::bytes_per_second), 1073741824.0);
  EXPECT_DOUBLE_EQ(parse_quantity("2TiB", Unit::bytes), 0x1p41);
  EXPECT_DOUBLE_EQ(parse_quantity("312TFLOP/s", Unit::flops), 312e12);
  EXPECT_DOUBLE_EQ(parse_quantity("0.7kW", Unit::watts), 700);
  EXPECT_DOUBLE_EQ(parse_quantity("20pJ/bit", Unit::joules_per_byte), 160e-12);
  EXPECT_DOUBLE_EQ(parse_quantity("0.16J/GB", Unit::joules_per_byte), 160e-12);
  EXPECT_DOUBLE_EQ(parse_quantity("3.06USD/h", Unit::dollars_per_second), 3.06 / 3600);
  EXPECT_DOUBLE_EQ(parse_quantity("0.02USD/GB", Unit::dollars_per_byte), 2e-11);
}

TEST(Units, OfMessagesAreThoseOfNcclTests) {
  EXPECT_EQ(parse_quantity("8", Unit::message_bytes), 8);
  EXPECT_EQ(parse_quantity("8K", Unit::message_bytes), 8192);
  EXPECT_EQ(parse_quantity("8M", Unit::message_bytes), 8 * 1048576);
  EXPECT_EQ(parse_quantity("8g", Unit::message_bytes), 0x1p33);
  EXPECT_EQ(parse_quantity("8MB", Unit::message_bytes), 8e6);
  for (const char* text : {"8", "8M", "8KB", "8Mb"})
    EXPECT_THROW(parse_quantity(text, Unit::bytes), UsageError) << text;
}

TEST(Units, EndWhereMachinesEnd) {
  EXPECT_THAT([] { parse_quantity("1e19B", Unit::bytes); },
              ::testing::ThrowsMessage<UsageError>("'1e19B' is more than 1.153e+06TB, the most that can be asked for"));
  EXPECT_THROW(parse_quantity("1e308TB", Unit::bytes), UsageError);
  EXPECT_THROW(parse_quantity("1e10s", Unit::seconds), UsageError);
}

TEST(Numbers, AreWrittenWithCommasAndThousands) {
  EXPECT_EQ(whole_number("-7"), -7);
  EXPECT_EQ(whole_number("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(whole_number("1,000,000"), 1'000'000);
  EXPECT_EQ(whole_number("-12,345"), -12'345);
  EXPECT_EQ(whole_number("10k"), 10'000);
  EXPECT_EQ(whole_number("1.5M"), 1'500'000);
  EXPECT_EQ(whole_number("1e6"), 1'000'000);
  for (const char* text : {"", "k", "2.5", "1,00", "1,0000", ",100", "1,,000", "10K", "10 k", "1e19", "inf", "nan",
                           "0x10", "1.0001k", "9223372036854775808", "12,", "1,000.5"}) {
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
  }
  EXPECT_EQ(finite_number("2.5e-3"), 2.5e-3);
  for (const char* text : {"", "inf", "nan", "-inf", "1e999", "1,5", "2x"})
    EXPECT_EQ(finite_number(text), std::nullopt) << text;
}

TEST(Units, AreWrittenInTheLargestThatFits) {
  EXPECT_EQ(format_quantity(1.25e9, Unit::bytes_per_second), "10Gbps");
  EXPECT_EQ(format_quantity(1.5e-6, Unit::seconds), "1.5us");
  EXPECT_EQ(format_quantity(0.25, Unit::seconds), "250ms");
  EXPECT_EQ(format_quantity(90, Unit::seconds), "90s");
  EXPECT_EQ(format_quantity(25e6, Unit::bytes), "25MB");
  EXPECT_EQ(format_quantity(12, Unit::bytes), "12B");
  EXPECT_EQ(format_quantity(15.7e12, Unit::flops), "15.7TFLOPS");
  EXPECT_EQ(format_quantity(0, Unit::seconds), "0s");
  EXPECT_EQ(format_quantity(300, Unit::watts), "300W");
  EXPECT_EQ(format_quantity(160e-12, Unit::joules_per_byte), "160pJ/B");
  EXPECT_EQ(format_quantity(3.06 / 3600, Unit::dollars_per_second), "3.06USD/h");
  EXPECT_EQ(format_quantity(2e-11, Unit::dollars_per_byte), "0.02USD/GB");
}

TEST(Units, WhatIsWrittenIsReadBack) {
  for (const Unit unit : {Unit::bytes, Unit::seconds, Unit::bytes_per_second, Unit::flops}) {
    for (double value = 1.234e-9; value < (unit == Unit::seconds ? 1e8 : 1e16); value *= 7.3) {
      EXPECT_NEAR(parse_quantity(format_quantity(value, unit), unit), value, 1e-3 * value);
    }
  }
}

TEST(Units, NumbersAreWrittenSoThatTheyAreReadBack) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(1e-7), "1e-07");
  EXPECT_EQ(number_text(-3), "-3");
  for (double value = 1.0 / 3e300; value < 1e300; value *= 123.456789)
    EXPECT_EQ(std::strtod(number_text(value).c_str(), nullptr), value);
}

}  // namespace
}  // namespace trigram
