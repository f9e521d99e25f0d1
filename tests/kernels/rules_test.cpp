// Every rule of the tested kind against the plain host, bit for bit, found by its name: at odd sizes and addresses, and
// on values where arithmetic is special; with a factor for all where it may have one.
#include <gtest/gtest.h>

#include <limits>

#include "core/device/rule.hpp"
#include "core/registry/registry.hpp"
#include "kernels/scalar.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::rules_test {
namespace {

constexpr std::int64_t counts[] = {1, 31, 4099, 3 * 8192 - 163};
constexpr std::int64_t offsets[] = {0, 1};  // elements before the slice: wide accesses allowed, and not

std::vector<std::string> rules_of_hosts() {
  std::vector<std::string> names;
  for (const std::string& name : Registry<Rule>::names()) {
    if (name.starts_with("cpu/")) names.push_back(name.substr(4));
  }
  return names;
}

std::vector<float> values_of(std::int64_t count, std::uint64_t seed) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float special[] = {
      0.0F, -0.0F, infinity, -infinity, 1e-40F, 3e38F, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> values = random_vector(count, seed);
  for (std::size_t i = 0; i < values.size(); i += 11) values[i] = special[(i / 11 + seed) % std::size(special)];
  return values;
}

class EveryRule : public testing::TestWithParam<std::string> {
 protected:
  /// What all operands are afterwards; the first one has `firsts` elements.
  std::vector<std::vector<std::uint32_t>> results(TestDevice& device, std::int64_t count, std::int64_t offset,
                                                  std::int64_t firsts) const {
    const Rule& rule = device.rule(GetParam());
    std::vector<double> scalars;
    while (scalars.size() < rule.shape().scalars) scalars.push_back(0.375 + 0.5 * static_cast<double>(scalars.size()));
    std::vector<OwnedBuffer> memory;
    std::vector<Buffer> operands;
    for (std::size_t i = 0; i < rule.shape().operands.size(); ++i) {
      memory.push_back(device.hold(values_of(offset + (i == 0 ? firsts : count), i)));
      operands.push_back(memory.back().view().slice(offset, i == 0 ? firsts : count));
    }
    device.apply(rule, scalars, operands);
    std::vector<std::vector<std::uint32_t>> all;
    for (const OwnedBuffer& one : memory) all.push_back(bits_of(device.values(one)));
    return all;
  }
};

TEST_P(EveryRule, HasThePlainHostsBits) {
  TestDevice tested, plain(Instructions::portable);
  const RuleShape& shape = plain.rule(GetParam()).shape();
  if (shape.types == ElementTypes::whole) GTEST_SKIP() << "of whole numbers: SameBits";
  const Operand first = shape.operands.front();
  for (const std::int64_t count : counts) {
    for (const std::int64_t offset : offsets) {
      SCOPED_TRACE(std::to_string(count) + " at " + std::to_string(offset));
      for (const std::int64_t firsts : {count, std::int64_t{1}}) {
        if (firsts == count ? first == Operand::one : first == Operand::read || first == Operand::changed) continue;
        EXPECT_EQ(results(tested, count, offset, firsts), results(plain, count, offset, firsts));
      }
    }
  }
}

TEST_P(EveryRule, RefusesOtherOperands) {
  TestDevice tested;
  const Rule& rule = tested.rule(GetParam());
  EXPECT_THROW(tested.apply(rule, std::vector<double>(rule.shape().scalars + 1), {}), Error);
}

INSTANTIATE_TEST_SUITE_P(All, EveryRule, testing::ValuesIn(rules_of_hosts()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trigram::rules_test
