// Fusing parameters into flat buckets.
#include "core/step/bucket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram {
namespace {

Parameter parameter(std::int64_t count, int layer, bool decays = true, DType dtype = DType::f32) {
  return {"p", count, count, layer, decays, dtype};
}

std::vector<std::vector<int>> members(const BucketPlan& plan) {
  std::vector<std::vector<int>> all;
  for (const auto& bucket : plan.buckets) {
    all.emplace_back();
    for (const auto& entry : bucket.tensors) all.back().push_back(entry.parameter);
  }
  return all;
}

TEST(BucketPlan, TakesParametersInReverseAndClosesOnceFull) {
  const std::vector<Parameter> parameters{parameter(10, 0), parameter(2, 0), parameter(3, 1), parameter(4, 2)};
  // 4 + 3 elements are 28 bytes, under 32; with 2 more they are 36.
  const BucketPlan plan = plan_buckets(parameters, {32, 1}, false);
  EXPECT_EQ(members(plan), (std::vector<std::vector<int>>{{3, 2, 1}, {0}}));
  EXPECT_EQ(plan.buckets[0].shape.count, 9);
  EXPECT_EQ(plan.buckets[0].tensors[1].offset, 4);
  EXPECT_EQ(plan.buckets[0].tensors[2].offset, 7);
  EXPECT_EQ(plan.buckets[0].first_layer, 0);
  EXPECT_EQ(plan.buckets[1].first_layer, 0);
}

TEST(BucketPlan, IsCompleteWithItsFirstLayer) {
  const std::vector<Parameter> parameters{parameter(8, 0), parameter(8, 1), parameter(4, 2), parameter(4, 3)};
  const BucketPlan plan = plan_buckets(parameters, {32, 1}, false);
  EXPECT_EQ(members(plan), (std::vector<std::vector<int>>{{3, 2}, {1}, {0}}));
  EXPECT_EQ(plan.buckets[0].first_layer, 2);
  EXPECT_EQ(plan.buckets[1].first_layer, 1);
}

TEST(BucketPlan, ZeroBytesMeansOneAParameter) {
  EXPECT_EQ(members(plan_buckets({parameter(1, 0), parameter(2, 0), parameter(3, 1)}, {0, 1}, false)),
            (std::vector<std::vector<int>>{{2}, {1}, {0}}));
  EXPECT_TRUE(plan_buckets({}, {}, false).buckets.empty());
}

TEST(BucketPlan, NeverMixesTypes) {
  const std::vector<Parameter> parameters{parameter(1, 0), parameter(1, 1, true, DType::f16),
                                          parameter(1, 2, true, DType::f16), parameter(1, 3)};
  const BucketPlan plan = plan_buckets(parameters, {}, false);
  EXPECT_EQ(members(plan), (std::vector<std::vector<int>>{{3}, {2, 1}, {0}}));
  EXPECT_EQ(plan.buckets[1].shape.dtype, DType::f16);
}

TEST(BucketPlan, PadsToItsAlignment) {
  const BucketPlan plan = plan_buckets({parameter(5, 0), parameter(4, 1)}, {0, 4}, false);
  EXPECT_EQ(plan.buckets[0].shape.count, 4);
  EXPECT_EQ(plan.buckets[1].shape.count, 8);
  EXPECT_EQ(plan.buckets[1].shape.modelled_count, 8);
}

TEST(BucketPlan, IsCutByModelledSizes) {
  // A small model on a large network's clock: one real element stands for a thousand.
  std::vector<Parameter> parameters{parameter(2, 0), parameter(2, 1), parameter(2, 2)};
  for (Parameter& one : parameters) one.modelled_count = 2000;
  const BucketPlan plan = plan_buckets(parameters, {16000, 1}, false);
  EXPECT_EQ(members(plan), (std::vector<std::vector<int>>{{2, 1}, {0}}));
  EXPECT_EQ(plan.buckets[0].shape.count, 4);
  EXPECT_EQ(plan.buckets[0].shape.modelled_count, 4000);
}

// Backward visits the last layer first: after 1, 3, 4 and 8 seconds layers 3, 2, 1 and 0 have ended.
TEST(BucketPlan, IsCutByCyclesOfBackward) {
  const std::vector<double> seconds{4, 1, 2, 1};
  EXPECT_EQ(cycles_of_layers(seconds, 4), (std::vector<std::int64_t>{2, 1, 1, 1}));
  EXPECT_EQ(cycles_of_layers(seconds, 2), (std::vector<std::int64_t>{4, 2, 2, 1}));
  EXPECT_EQ(cycles_of_layers(seconds, 0), (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(cycles_of_layers(std::vector<double>(30, 0.1), 0.3)[0], 10) << "sums of tenths round";
  const std::vector<Parameter> parameters{parameter(4, 0), parameter(4, 1), parameter(4, 2), parameter(4, 2),
                                          parameter(4, 3)};
  const BucketOptions in_cycles{.bytes = 32, .cycle = 2};
  EXPECT_EQ(members(plan_buckets(parameters, in_cycles, false, seconds)),
            (std::vector<std::vector<int>>{{4}, {3, 2}, {1}, {0}}))
      << "32 bytes are full before the cycle ends";
  EXPECT_EQ(members(plan_buckets(parameters, in_cycles, false)), (std::vector<std::vector<int>>{{4, 3}, {2, 1}, {0}}))
      << "without times sizes alone cut";
}

TEST(BucketPlan, RefusesImpossibleSizes) {
  EXPECT_THROW(plan_buckets({parameter(1, 0)}, {-1, 1}, false), UsageError);
  EXPECT_THROW(plan_buckets({parameter(1, 0)}, {0, 0}, false), UsageError);
}

TEST(BucketStore, GivesEveryParameterItsElementsAndGroupsEqualConstants) {
  run_ranks<float>("threads", World{}, [](RankRuntime& runtime) {
    Device& device = *runtime.lane(0).device;
    const std::vector<Parameter> parameters{parameter(3, 0), parameter(2, 0, false), parameter(4, 1, false)};
    BucketStore store(device, parameters, plan_buckets(parameters, {1000, 8}, false));
    EXPECT_EQ(store.buckets().size(), 1U);
    const Bucket& bucket = store.buckets()[0];
    EXPECT_EQ(bucket.weights.count(), 16);
    EXPECT_EQ(bucket.groups.size(), 2U);
    EXPECT_EQ(bucket.groups[0].count, 6);
    EXPECT_FALSE(bucket.groups[0].decays);
    EXPECT_EQ(bucket.groups[1].offset, 6);
    EXPECT_EQ(bucket.groups[1].count, 3);
    EXPECT_TRUE(bucket.groups[1].decays);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      device.fill(store.parameters()[i].weights, static_cast<double>(i + 1));
      device.fill(store.parameters()[i].gradients, -static_cast<double>(i + 1));
    }
    // Reverse order, then zeros of the padding.
    EXPECT_EQ(on_host<float>(device, bucket.weights),
              (std::vector<float>{3, 3, 3, 3, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(on_host<float>(device, bucket.gradients)[8], -1);
    return std::vector<float>{};
  });
}

/// Eight real elements that cost like 80, in two groups of 3 and 5, cut into three.
TEST(Bucket, APartHasItsElementsAndGroupsOfBothSizes) {
  run_ranks<float>("threads", World{}, [](RankRuntime& runtime) {
    Device& device = *runtime.lane(0).device;
    std::vector<Parameter> parameters{parameter(5, 0, false), parameter(3, 0)};
    parameters[0].modelled_count = 50, parameters[1].modelled_count = 30;
    BucketStore store(device, parameters, plan_buckets(parameters, {1000, 1}, false));
    const Bucket& bucket = store.buckets()[0];
    const Bucket last = bucket.part(2, 3), first = bucket.part(0, 3);
    EXPECT_EQ(first.weights.count(), 3);
    EXPECT_EQ(first.weights.modelled_count(), 27);
    EXPECT_EQ(first.groups.size(), 1U);
    EXPECT_EQ(first.groups[0].count, 3);
    EXPECT_EQ(first.groups[0].modelled_count, 27);
    EXPECT_TRUE(first.groups[0].decays);
    const Bucket middle = bucket.part(1, 3);
    EXPECT_EQ(middle.groups.size(), 2U) << "its costs begin in the first group, its elements behind it";
    EXPECT_EQ(middle.groups[0].count, 0);
    EXPECT_EQ(middle.groups[0].modelled_count, 3);
    EXPECT_EQ(middle.groups[1].count, 3);
    EXPECT_EQ(middle.groups[1].modelled_count, 24);
    EXPECT_EQ(last.weights.count(), 2);
    EXPECT_EQ(last.groups.back().offset, 0);
    EXPECT_EQ(last.groups.back().modelled_count, 26);
    return std::vector<float>{};
  });
}

TEST(Bucket, KnowsItsTensors) {
  run_ranks<float>("threads", World{}, [](RankRuntime& runtime) {
    std::vector<Parameter> parameters{parameter(6, 0), parameter(2, 0)};
    parameters[0].name = "matrix", parameters[0].dimensions = {2, 3};
    BucketStore store(*runtime.lane(0).device, parameters, plan_buckets(parameters, {1000, 16}, false));
    const Bucket& bucket = store.buckets()[0];
    EXPECT_EQ(bucket.tensors.size(), 2U);
    EXPECT_EQ(bucket.tensors[1].name, "matrix");
    EXPECT_EQ(bucket.tensors[1].offset, 2);
    EXPECT_EQ(bucket.tensors[1].dimensions, (Dimensions{2, 3}));
    EXPECT_EQ(bucket.tensors[1].of(bucket.weights).count(), 6);
    return std::vector<float>{};
  });
}

/// Memory of somebody else: elements of weights and gradients, of which tensors are views.
class Foreign : public ::testing::Test {
 protected:
  /// {c, b} and {a} by the plan.
  const std::vector<Parameter> parameters_{{"a", 3, 3, 0}, {"b", 2, 2, 1}, {"c", 4, 4, 2}};
  std::vector<float> weights_ = std::vector<float>(16), gradients_ = std::vector<float>(16);

  ParameterView at(std::size_t place, std::int64_t count) {
    return {{weights_.data() + place, Shape::of(count, DType::f32)},
            {gradients_.data() + place, Shape::of(count, DType::f32)}};
  }
  BucketStore on(const std::vector<ParameterView>& memory, std::int64_t alignment = 1) const {
    return {parameters_, plan_buckets(parameters_, {24, alignment}, false), memory};
  }
  void expect_refusal(const std::vector<ParameterView>& memory, const std::string& message,
                      std::int64_t alignment = 1) {
    EXPECT_THAT([&] { on(memory, alignment); }, ::testing::ThrowsMessage<UsageError>(::testing::HasSubstr(message)));
  }
};

TEST_F(Foreign, BucketsStandOnItWithoutACopy) {
  BucketStore store = on({at(9, 3), at(4, 2), at(0, 4)});
  ASSERT_EQ(store.buckets().size(), 2U);
  const Bucket& first = store.buckets()[0];
  EXPECT_EQ(first.weights.data<float>(), weights_.data());
  EXPECT_EQ(first.gradients.data<float>(), gradients_.data());
  EXPECT_EQ(first.weights.count(), 6);
  EXPECT_EQ(store.buckets()[1].weights.data<float>(), weights_.data() + 9);
  EXPECT_EQ(store.parameters()[1].gradients.data<float>(), gradients_.data() + 4);
  EXPECT_EQ(first.groups.size(), 1U);
  EXPECT_EQ(first.tensors[1].name, "b");
}

TEST_F(Foreign, WhatDoesNotFitIsRefusedByTheTensorsName) {
  expect_refusal({at(9, 3), at(4, 2)}, "2 tensors have memory, but there are 3");
  expect_refusal({at(9, 3), at(4, 1), at(0, 4)}, "the weights of tensor 'b' are 1 elements, but the parameter has 2");
  expect_refusal({at(9, 3), at(5, 2), at(0, 4)},
                 "the weights of tensor 'b' do not begin where the weights of tensor 'c' end; tensors of a bucket "
                 "lie one behind the other");
  expect_refusal({at(9, 3), {at(4, 2).weights, at(5, 2).gradients}, at(0, 4)},
                 "the gradients of tensor 'b' do not begin where the gradients of tensor 'c' end");
  std::vector<ParameterView> halves{at(9, 3), at(4, 2), at(0, 4)};
  halves[2].weights = {weights_.data(), Shape::of(4, DType::f16)};
  expect_refusal(halves, "the weights of tensor 'c' are of f16, but the parameter is of f32");
  halves[2].weights = {reinterpret_cast<std::byte*>(weights_.data()) + 2, Shape::of(4, DType::f32)};
  expect_refusal(halves,
                 "the weights of tensor 'c' begin at an address that is no multiple of 4 bytes, the size of f32");
  halves[2].weights = {nullptr, Shape{4, DType::f32, 4, true}};
  expect_refusal(halves, "the weights of tensor 'c' have no memory");
  expect_refusal(
      {at(9, 3), at(4, 2), at(0, 4)},
      "behind tensor 'b' come 2 elements of padding, for which there is no memory; use a bucket alignment of 1", 8);
}

}  // namespace
}  // namespace trigram
