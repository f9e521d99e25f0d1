// Fusing parameters into flat buckets.
#include "core/bucket.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
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

}  // namespace
}  // namespace trigram
