// What is told of devices that do not do what the reference does.
#include "core/conformance/device_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <utility>

#include "core/step/optimizer.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram::device_check_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a device makes of the values that are downloaded from it, and of each order.
struct Wrongs {
  std::function<void(std::span<std::byte>, int order)> download = [](std::span<std::byte>, int) {};
  std::string fault = "";
  TriedDevice::Ran ran = {};
  bool throws = false;
};

/// The host, with something wrong.
class WrongDevice final : public TriedDevice {
 public:
  explicit WrongDevice(Wrongs wrongs) : wrongs_(std::move(wrongs)) {}

  std::unique_ptr<Device> make(Timeline& timeline) override {
    return std::make_unique<Device>(std::make_shared<WrongKernels>(*this), timeline);
  }
  int orders() const override { return 3; }
  std::string take_order(int which) override {
    order_ = which;
    return "order " + std::to_string(which);
  }
  std::string take_fault() override { return std::exchange(wrongs_.fault, {}); }
  Ran take_ran() override { return wrongs_.ran; }

 private:
  class WrongKernels final : public CpuKernels {
   public:
    explicit WrongKernels(const WrongDevice& device) : CpuKernels(Instructions::portable), device_(device) {}
    void download(Buffer from, std::span<std::byte> to) override {
      CpuKernels::download(from, to);
      if (device_.wrongs_.throws) throw std::runtime_error("it fell off the bus");
      if (!to.empty()) device_.wrongs_.download(to, device_.order_);
    }

   private:
    const WrongDevice& device_;
  };

  Wrongs wrongs_;
  int order_ = 0;
};

/// "invariant: text" of the first violation of codec fp16; empty where there is none.
std::string told(const Wrongs& wrongs) {
  WrongDevice tested(wrongs);
  const auto reference = TriedDevices::make(reference_device);
  for (const ComparedTrial& trial : compare_codec("fp16", tested, *reference)) {
    if (!trial.violations.empty()) return trial.violations[0].invariant + ": " + trial.violations[0].text;
  }
  return {};
}

/// In the frame of one element.
void flip(std::span<std::byte> bytes, int) {
  if (bytes.size() == 2) bytes[0] ^= std::byte{1};
}

TEST(DeviceCheck, TheHostDoesWhatItDoes) { EXPECT_EQ(told({}), ""); }

TEST(DeviceCheck, TellsTheFirstByteThatDiffers) {
  EXPECT_THAT(told({.download = flip}), HasSubstr("bits: 1 elements, vector random: byte 0 of the frame is 0x"));
  EXPECT_THAT(told({.download = flip}), HasSubstr(", that of cpu/fp16 0x"));
}

TEST(DeviceCheck, TellsWhereProductsWereNotRounded) {
  EXPECT_THAT(told({.download = flip, .ran = {.fused_multiply_adds = "fp16.cu:7"}}),
              HasSubstr("(fused multiply-adds) at fp16.cu:7"));
  EXPECT_EQ(told({.ran = {.fused_multiply_adds = "fp16.cu:7"}}), "") << "they do no harm by themselves";
}

TEST(DeviceCheck, TellsOfResultsThatDependOnTheOrder) {
  const auto last_only = [](std::span<std::byte> bytes, int order) {
    if (order == 2) flip(bytes, order);
  };
  EXPECT_THAT(told({.download = last_only}),
              HasSubstr("order: 1 elements, vector random: the frame is another with order 2 than with order 0; "));
  EXPECT_THAT(told({.download = last_only}), HasSubstr("__syncthreads()"));
}

TEST(DeviceCheck, TellsAFaultBeforeAllElse) {
  EXPECT_EQ(told({.download = flip, .fault = "memcheck: a read beyond", .throws = true}),
            "memcheck: 0 elements, vector random: a read beyond");
  EXPECT_EQ(told({.throws = true}),
            "error: 0 elements, vector random, one element into its memory: it fell off the bus");
}

TEST(DeviceCheck, CodecsMayNotRoundOtherwise) {
  EXPECT_THAT(told({.download = flip, .ran = {.may_round_otherwise = true}}), HasSubstr("bits: "));
}

/// Makes each f32 that is downloaded larger by a part of itself.
Wrongs larger_by(float part, bool may) {
  const auto download = [part](std::span<std::byte> bytes, int) {
    auto* const values = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i) values[i] += values[i] * part;
  };
  return {.download = download, .ran = {.may_round_otherwise = may}};
}

std::vector<Violation> told_of_bias(const Wrongs& wrongs) {
  WrongDevice tested(wrongs);
  const auto reference = TriedDevices::make(reference_device);
  return compare_operation("bias", tested, *reference).front().violations;
}

TEST(DeviceCheck, OperationsDifferInLastBitsWhereTheyMayAlone) {
  EXPECT_THAT(told_of_bias(larger_by(1e-6F, true)), IsEmpty());
  EXPECT_FALSE(told_of_bias(larger_by(1e-6F, false)).empty());
  EXPECT_FALSE(told_of_bias(larger_by(1e-3F, true)).empty());
}

TEST(DeviceCheck, OptimizersHaveTheBitsOfTheReference) {
  const auto reference = TriedDevices::make(reference_device);
  for (const std::string& name : Optimizers::names()) {
    WrongDevice right({}), wrong(larger_by(1e-6F, false));
    EXPECT_THAT(compare_optimizer(name, right, *reference).front().violations, IsEmpty()) << name;
    const std::vector<Violation> found = compare_optimizer(name, wrong, *reference).front().violations;
    ASSERT_FALSE(found.empty()) << name;
    EXPECT_THAT(found[0].text, HasSubstr("weights of bucket 0 after step 1")) << name;
  }
}

}  // namespace
}  // namespace trigram::device_check_test
