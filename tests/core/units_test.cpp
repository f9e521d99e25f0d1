// Quantities: what people write, in the base unit, and back.
#include "core/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

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

TEST(Units, AreWrittenInTheLargestThatFits) {
  EXPECT_EQ(format_quantity(1.25e9, Unit::bytes_per_second), "10Gbps");
  EXPECT_EQ(format_quantity(1.5e-6, Unit::seconds), "1.5us");
  EXPECT_EQ(format_quantity(0.25, Unit::seconds), "250ms");
  EXPECT_EQ(format_quantity(90, Unit::seconds), "90s");
  EXPECT_EQ(format_quantity(25e6, Unit::bytes), "25MB");
  EXPECT_EQ(format_quantity(12, Unit::bytes), "12B");
  EXPECT_EQ(format_quantity(15.7e12, Unit::flops), "15.7TFLOPS");
  EXPECT_EQ(format_quantity(0, Unit::seconds), "0s");
}

TEST(Units, WhatIsWrittenIsReadBack) {
  for (const Unit unit : {Unit::bytes, Unit::seconds, Unit::bytes_per_second, Unit::flops}) {
    for (double value = 1.234e-9; value < 1e16; value *= 7.3) {
      EXPECT_NEAR(parse_quantity(format_quantity(value, unit), unit), value, 1e-3 * value);
    }
  }
}

}  // namespace
}  // namespace trigram
