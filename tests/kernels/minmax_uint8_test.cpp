// minmax_uint8 against reference vectors of Bagua's arithmetic, and its policy where Bagua's levels wrap around.
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/kernels/test_device.hpp"
#include "tests/kernels/vector_file.hpp"

namespace trigram {
namespace {

using nlohmann::json;
using testing::Each;
using testing::ElementsAre;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The vectors write infinities as text.
float number(const json& value) { return value.is_number() ? value.get<float>() : infinity; }

float load(const std::vector<std::uint8_t>& frame, std::size_t place) {
  float value = 0;
  std::memcpy(&value, frame.data() + place, sizeof value);
  return value;
}

class MinMaxUint8 : public testing::Test {
 protected:
  TestDevice device_;
  std::unique_ptr<Codec> codec_ = device_.make_codec("minmax_uint8");

  std::vector<std::uint8_t> levels(const std::vector<float>& x) {
    const std::vector<std::uint8_t> frame = device_.encode(*codec_, x);
    return {frame.begin() + 32, frame.begin() + 32 + static_cast<std::ptrdiff_t>(x.size())};
  }
};

TEST_F(MinMaxUint8, EqualsTheReferenceVectors) {
  const json vectors = json::parse(std::ifstream(vector_file("minmax_uint8_codec.json")));
  int compared = 0;
  for (const json& test : vectors.at("cases")) {
    const auto input = test.at("input").get<std::vector<float>>();
    const auto elements = test.at("chunk_elems").get<std::size_t>();
    const bool half = test.at("dtype") == "f16";  // the same levels; the header and the values are of another type
    for (std::size_t c = 0; c < test.at("chunks").size(); ++c) {
      SCOPED_TRACE(test.at("name").get<std::string>() + " chunk " + std::to_string(c));
      const json& chunk = test["chunks"][c];
      const auto begin = input.begin() + static_cast<std::ptrdiff_t>(c * elements);
      const std::vector<float> x(begin, std::min(begin + static_cast<std::ptrdiff_t>(elements), input.end()));
      const std::vector<std::uint8_t> frame = device_.encode(*codec_, x);
      ASSERT_EQ(frame.size(), test.at("chunk_offset_bytes").get<std::size_t>());
      ASSERT_EQ(load(frame, 0), chunk.at("min").get<float>());
      ASSERT_EQ(load(frame, 4), chunk.at("max").get<float>());
      ASSERT_EQ(levels(x), chunk.at("kernel_model").at("payload").get<std::vector<std::uint8_t>>());
      const std::vector<float> decoded = device_.decode(*codec_, frame, x.size());
      for (std::size_t i = 0; i < x.size() && !half; ++i) {
        const float reference = number(chunk["kernel_model"]["decompressed"][i]);
        // Where the reference overflows, a constant is kept.
        ASSERT_EQ(decoded[i], reference == infinity ? x[i] : reference) << i;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 30);
}

// U = 2 and L = −253, and the smallest value rounds to −254, one level under the lowest.
TEST_F(MinMaxUint8, ClampsTheLevelThatWouldWrapAround) {
  const std::vector<float> x = {1.5F, -253.5F, 0.0F};
  EXPECT_THAT(levels(x), ElementsAre(255, 0, 253));
  const std::vector<float> decoded = device_.round_trip(*codec_, x);
  EXPECT_NEAR(decoded[1], -253.5F, 0.5001F);
  EXPECT_EQ(decoded[2], 0.0F);
}

TEST_F(MinMaxUint8, StaysInRangeWhereLevelsAreNoWholeNumbers) {
  // One unit in the last place apart at 1e6: levels are counted beyond 2^24.
  const float base = 1e6F;
  const std::vector<float> x = {base, std::nextafter(base, 2e6F), std::nextafter(base, 0.0F)};
  const std::vector<float> decoded = device_.round_trip(*codec_, x);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(decoded[i], x[i], 0.25F);
}

TEST_F(MinMaxUint8, DecodesToNaNWhereAValueIsNotFinite) {
  for (const float bad : {infinity, -infinity, std::nanf("")}) {
    for (const std::size_t place : {0U, 40U, 64U}) {
      std::vector<float> x = random_vector(65, 3);
      x[place] = bad;
      EXPECT_THAT(device_.round_trip(*codec_, x), Each(testing::IsNan())) << bad << " at " << place;
    }
  }
  EXPECT_THAT(device_.round_trip(*codec_, {3e38F, -3e38F}), Each(testing::IsNan()));
}

TEST_F(MinMaxUint8, ErrorIsAtMostHalfAStep) {
  for (const std::int64_t count : {2, 33, 1000}) {
    const std::vector<float> x = random_vector(count, static_cast<std::uint64_t>(count));
    const std::vector<float> decoded = device_.round_trip(*codec_, x);
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const float step = (*high - *low + 1e-7F) / 255.0F;
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LE(std::abs(decoded[i] - x[i]), step * 0.50001F);
    EXPECT_LE(squared_distance(x, decoded), codec_->properties(count).bound * squared_norm(x));
  }
}

TEST_F(MinMaxUint8, IsAContractionForFewElementsOnly) {
  EXPECT_TRUE(codec_->properties(65024).contraction);
  EXPECT_FALSE(codec_->properties(65025).contraction);
}

}  // namespace
}  // namespace trigram
