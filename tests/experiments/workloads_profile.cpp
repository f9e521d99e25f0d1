// Profiles: published sizes, time that adds up, a model's slices on a profile's clock, and damaged tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "experiments/workloads/networks/tensor_places.hpp"
#include "tests/experiments/workloads_rig.hpp"

namespace trigram {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Rig;

std::int64_t modelled(const std::vector<Parameter>& parameters) {
  std::int64_t total = 0;
  for (const Parameter& parameter : parameters) total += parameter.modelled_count;
  return total;
}

TEST(Profile, Vgg16HasThePublishedSizeAndWork) {
  Rig rig("vgg16:compute=roofline,batch=1");
  EXPECT_TRUE(rig.workload->phantom());
  EXPECT_EQ(rig.workload->layers(), 16);
  EXPECT_EQ(rig.parameters.size(), 32U);
  EXPECT_EQ(modelled(rig.parameters), 138357544);
  for (const Parameter& parameter : rig.parameters) EXPECT_EQ(parameter.count, 0);
  // Forward of one image is 15.47 G multiply-adds, backward twice that.
  rig.workload->forward(rig.worker);
  EXPECT_NEAR(rig.runtime.device().work.flops, 2 * 15.47e9, 0.01e9 * 2);
  rig.compute(0);
  EXPECT_NEAR(rig.runtime.device().work.flops, 4 * 2 * 15.47e9, 8 * 0.01e9);
  EXPECT_EQ(rig.runtime.device().seconds, 0);
}

struct Published {
  const char* name;
  std::int64_t parameters;
  double forward_multiply_adds;  ///< of one sample; 0 where nobody publishes them
};

class PublishedSize : public ::testing::TestWithParam<Published> {};

// Sizes of the published weights; multiply-adds as torchvision's documentation lists them.
INSTANTIATE_TEST_SUITE_P(Profiles, PublishedSize,
                         ::testing::Values(Published{"vgg19", 143667240, 19.632e9},
                                           Published{"resnet50", 25557032, 4.089e9},
                                           Published{"resnet101", 44549160, 7.801e9},
                                           Published{"vit_b16", 86567656, 17.564e9},
                                           Published{"bert_base", 109482240, 0}, Published{"gpt2_small", 124439808, 0},
                                           Published{"gpt2_xl", 1557611200, 0}, Published{"llama_7b", 6738415616, 0}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(PublishedSize, IsTheTables) {
  const Published& published = GetParam();
  Rig rig(std::string(published.name) + ":compute=roofline,batch=1");
  EXPECT_EQ(modelled(rig.parameters), published.parameters);
  for (const Parameter& parameter : rig.parameters) EXPECT_FALSE(parameter.modelled_dimensions.empty());
  rig.workload->forward(rig.worker);
  if (published.forward_multiply_adds > 0) {
    EXPECT_NEAR(rig.runtime.device().work.flops, 2 * published.forward_multiply_adds, 2 * 0.0005e9);
  }
}

TEST(Profile, WithoutAMeasuredTimeIsListedAndAsksForOne) {
  EXPECT_EQ(Workloads::parameters("gpt2_xl").size(), 4U);
  try {
    Rig("gpt2_xl");
    ADD_FAILURE() << "a step took no time";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("no time was measured"), HasSubstr("gpt2_xl"), HasSubstr("compute=0.5s")));
  }
  EXPECT_NO_THROW(Rig("gpt2_xl:compute=0.4s,forward_fraction=0.3"));
  EXPECT_THROW(Rig("on_profile:model=mlp,profile=gpt2_xl"), UsageError);
}

TEST(Profile, TransformersDoTwoFlopsAParameterAndPosition) {
  // Of matrices, words in left out; the matrix of GPT-2's words works once, as scores. Beside it 4 T² d of attention.
  const auto flops = [](const std::string& name) {
    Rig rig(name + ":compute=roofline,batch=1");
    rig.workload->forward(rig.worker);
    return rig.runtime.device().work.flops;
  };
  const auto expected = [](double matrices, double layers, double positions, double width) {
    return 2 * matrices * positions + layers * 4 * positions * positions * width;
  };
  EXPECT_NEAR(flops("gpt2_small") / expected(12 * 12 * 768. * 768 + 50257 * 768., 12, 1024, 768), 1, 1e-9);
  EXPECT_NEAR(flops("gpt2_xl") / expected(48 * 12 * 1600. * 1600 + 50257 * 1600., 48, 1024, 1600), 1, 1e-9);
  EXPECT_NEAR(flops("llama_7b") / expected(6738415616. - 32000 * 4096. - 65 * 4096., 32, 2048, 4096), 1, 1e-9);
}

TEST(Profile, NetworksOfUnpublishedShapesMeetThePublishedTotals) {
  // Parameters and FLOPs of a sample's forward pass as Bagua's paper lists them (arXiv:2107.01499).
  const auto expect_totals = [](const std::string& name, double parameters, double flops) {
    Rig rig(name + ":compute=roofline,batch=1");
    EXPECT_NEAR(static_cast<double>(modelled(rig.parameters)) / parameters, 1, 0.002) << name;
    for (const Parameter& parameter : rig.parameters) EXPECT_FALSE(parameter.modelled_dimensions.empty());
    rig.workload->forward(rig.worker);
    EXPECT_NEAR(rig.runtime.device().work.flops / flops, 1, 0.002) << name;
    EXPECT_THROW(Rig{name}, UsageError) << "nobody published its time";
  };
  expect_totals("lstm_alexnet", 126.8e6, 97.12e9);
  expect_totals("transformer_asr", 66.5e6, 145e9);
}

TEST(Profile, AlexNetAndTheLstmAreCountedAsPyTorchDoes) {
  Rig rig("lstm_alexnet:compute=roofline,batch=1");
  const auto size = [&](const std::string& part) {
    std::int64_t total = 0;
    for (const Parameter& one : rig.parameters) total += one.name.starts_with(part) ? one.modelled_count : 0;
    return total;
  };
  EXPECT_EQ(size("alexnet"), 61100840);  // torchvision's weights
  EXPECT_EQ(size("lstm0"), 4 * 2048 * (1872 + 2048 + 2));
  EXPECT_EQ(size("lstm1"), 4 * 2048 * (2048 + 2048 + 2));
}

TEST(Profile, BertLargeHasThePublishedSize) {
  Rig rig("bert_large");
  const std::int64_t width = 1024;
  const std::int64_t inner = 4096;
  const std::int64_t embeddings = (30522 + 512 + 2 + 2) * width;
  const std::int64_t block = 4 * (width * width + width) + 2 * width * inner + inner + width + 2 * 2 * width;
  EXPECT_EQ(modelled(rig.parameters), embeddings + 24 * block + width * width + width);
  EXPECT_EQ(modelled(rig.parameters), 335141888);
  EXPECT_EQ(rig.parameters.size(), 5U + 24 * 16 + 2);
  EXPECT_EQ(rig.workload->layers(), 1 + 2 * 24 + 1);
}

TEST(Profile, MeasuredTimeIsSpreadWithOneThirdForward) {
  Rig rig("bert_large", {.world = 128});
  EXPECT_EQ(rig.workload->global_batch(), 128 * 6);
  EXPECT_EQ(rig.workload->local_batch(), 6);
  rig.workload->forward(rig.worker);
  EXPECT_NEAR(rig.runtime.device().seconds, 0.53 / 3, 1e-12);
  rig.runtime.device().seconds = 0;
  for (int layer = rig.workload->layers() - 1; layer >= 0; --layer) rig.workload->backward(rig.worker, layer);
  EXPECT_NEAR(rig.runtime.device().seconds, 0.53 * 2 / 3, 1e-12);
  // All blocks are alike: each feed-forward takes 2·2·S·w·4w of a block's 24·S·w² + 4·S²·w FLOPs.
  rig.runtime.device().seconds = 0;
  rig.workload->backward(rig.worker, 2);
  const double share = 16.0 * 384 * 1024 * 1024 / (24.0 * 384 * 1024 * 1024 + 4.0 * 384 * 384 * 1024);
  EXPECT_NEAR(rig.runtime.device().seconds, 0.53 * 2 / 3 / 24 * share, 1e-5);
  EXPECT_FALSE(rig.workload->objective(rig.runtime.device(), {}).has_value());
  EXPECT_TRUE(std::isnan(rig.workload->accuracy(rig.runtime.device(), {})));
}

TEST(Profile, ComputeAndBatchCanBeGiven) {
  const auto seconds = [](const std::string& spec, const Shard& shard = {}) {
    Rig rig(spec, shard);
    rig.compute(0);
    return rig.runtime.device().seconds;
  };
  EXPECT_NEAR(seconds("bert_large:compute=0.8s"), 0.8, 1e-12);
  EXPECT_NEAR(seconds("bert_large:batch=12"), 1.06, 1e-12);
  EXPECT_NEAR(seconds("bert_large", {.world = 2, .global_batch = 6}), 0.265, 1e-12);
  EXPECT_NEAR(seconds("vgg16"), 32 / (144 * 15.7 / 10.6), 1e-3);
  Rig quarter("bert_large:forward_fraction=0.25");
  quarter.workload->forward(quarter.worker);
  EXPECT_NEAR(quarter.runtime.device().seconds, 0.53 / 4, 1e-12);
  EXPECT_THROW(Workloads::make("vgg16:compute=roofline,forward_fraction=0.5"), UsageError);
  EXPECT_THROW(Workloads::make("vgg16:compute=fast"), UsageError);
  EXPECT_THROW(Workloads::make("vgg16:forward_fraction=1.5"), UsageError);
  EXPECT_THROW(Rig("vgg16", {.label_skew = 1}), UsageError);
  EXPECT_THROW(Rig("profile"), UsageError);
}

class Tables : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string spec(const std::string& text) {
    std::ofstream(path_) << text;
    return "profile:file=" + path_;
  }
  std::string error(const std::string& text) {
    try {
      Rig rig(spec(text));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "(no UsageError)";
  }
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("trigram_table_" + std::to_string(::getpid()) + ".csv")).string();
};

TEST_F(Tables, MeasuredLayersKeepTheirTimes) {
  Rig rig(spec(
      "# batch: 4\nlayer,tensor,parameters,decays,forward_ms,backward_ms\na,w,10,1,1,2\na,b,2,0,,\nb,w,5,1,3,8\n"));
  EXPECT_EQ(rig.workload->local_batch(), 4);
  rig.workload->backward(rig.worker, 1);
  EXPECT_NEAR(rig.runtime.device().seconds, 8e-3, 1e-15);
  rig.compute(0);
  EXPECT_NEAR(rig.runtime.device().seconds, 22e-3, 1e-15);
  EXPECT_EQ(rig.parameters[1].name, "a.b");
  EXPECT_FALSE(rig.parameters[1].decays);
  EXPECT_EQ(rig.parameters[2].layer, 1);
}

TEST_F(Tables, MeasuredLayersKeepTheirSharesOfWhatTheyTakeTogether) {
  const std::string columns = "layer,tensor,parameters,decays,forward_ms,backward_ms\na,w,10,1,1,2\nb,w,5,1,3,8\n";
  const auto seconds = [&](const std::string& header, const std::string& parameters) {
    Rig rig(spec(header + columns) + parameters);
    rig.workload->backward(rig.worker, 1);
    const double backward = rig.runtime.device().seconds;
    rig.workload->backward(rig.worker, 0);
    rig.workload->forward(rig.worker);
    return std::pair(backward, rig.runtime.device().seconds);
  };
  const auto expect = [](std::pair<double, double> found, double backward, double all) {
    EXPECT_NEAR(found.first, backward, 1e-12);
    EXPECT_NEAR(found.second, all, 1e-12);
  };
  expect(seconds("# compute: 28ms in 20ms..30ms\n# rest: 5ms in 4ms..6ms\n", ""), 16e-3, 33e-3);
  expect(seconds("# compute: 28ms\n# batch: 2\n", ",batch=4"), 32e-3, 56e-3);
  expect(seconds("# rest: 5ms\n", ",compute=7ms,rest=1ms"), 4e-3, 8e-3);
  EXPECT_THAT(error("# compute: 28ms in 30ms..40ms\n" + columns),
              AllOf(HasSubstr("line 1: compute: "), HasSubstr("does not lie in its range")));
}

TEST_F(Tables, DamageIsNamedWithFileAndLine) {
  const std::string head = "layer,tensor,parameters,decays,forward_flops\n";
  EXPECT_THAT(error("layer,tensor,parameters,decays\n"), HasSubstr("costs are missing"));
  EXPECT_THAT(error("layer,tensor,decays,forward_flops\n"),
              AllOf(HasSubstr("line 1"), HasSubstr("'parameters' is missing")));
  EXPECT_THAT(error("layer,tensor,size\n"), AllOf(HasSubstr("line 1"), HasSubstr("unknown column 'size'")));
  EXPECT_THAT(error(head + "a,w,ten,1,5\n"), AllOf(HasSubstr("line 2"), HasSubstr("'ten'")));
  EXPECT_THAT(error(head + "a,w,1.5,1,5\n"), AllOf(HasSubstr("line 2"), HasSubstr("whole number")));
  EXPECT_THAT(error(head + "a,w,10,1\n"), AllOf(HasSubstr("line 2"), HasSubstr("4 fields where 5")));
  EXPECT_THAT(error(head + "a,w,10,2,5\n"), AllOf(HasSubstr("line 2"), HasSubstr("decays")));
  EXPECT_THAT(error(head + "a,w,1,1,5\nb,w,1,1,5\na,b,1,1,5\n"), AllOf(HasSubstr("line 4"), HasSubstr("'a'")));
  EXPECT_THAT(error("# bach: 3\n" + head), AllOf(HasSubstr("line 1"), HasSubstr("'bach'")));
  EXPECT_THAT(error("# batch: 0\n" + head), AllOf(HasSubstr("line 1"), HasSubstr("positive")));
  EXPECT_THAT(error(head), HasSubstr("no parameters"));
  EXPECT_THAT(error(head + "a,w,10,1,5\n"), AllOf(HasSubstr("(" + path_ + ")"), HasSubstr("compute=roofline")));
  EXPECT_THAT(error("# compute: 1s\n" + head + "a,w,10,1,0\n"),
              AllOf(HasSubstr("(" + path_ + ") has no FLOPs to spread"), HasSubstr("profile 'trigram_table_")));
  EXPECT_THAT(error("# compute: 1\n" + head), AllOf(HasSubstr(path_ + ": line 1: compute: '1'"), HasSubstr("ms")));
}

TEST_F(Tables, WhatTakesLongerThanAnyClockCountsIsRefused) {
  const std::string head = "# batch: 1\nlayer,tensor,parameters,decays,";
  const auto refusal = [&](const std::string& rest) { return error(head + rest); };
  EXPECT_THAT(refusal("forward_ms,backward_ms\na,w,10,1,1e308,1\n"),
              HasSubstr("line 3: forward_ms '1e308' is no number from 0 to 1e+12"));
  EXPECT_THAT(refusal("forward_ms,backward_ms\na,w,10,1,1,1.1e12\n"), HasSubstr("line 3: backward_ms '1.1e12'"));
  EXPECT_THAT(refusal("forward_flops\na,w,10,1,1e300\n"), HasSubstr("forward_flops '1e300' is no number from 0 to"));
  EXPECT_THAT(refusal("forward_flops,activations\na,w,10,1,1,1e308\n"), HasSubstr("line 3: activations '1e308'"));
  EXPECT_THAT(refusal("forward_flops\na,w,10,1,-1\n"), HasSubstr("'-1' is no number from 0 to"));
}

TEST_F(Tables, DimensionsAreOfAsManyParameters) {
  const std::string head = "layer,tensor,parameters,dimensions,decays,forward_flops\n";
  const auto read = [&](const std::string& rows) { return Rig(spec(head + rows) + ",compute=1s").parameters; };
  const std::vector<Parameter> known = read("a,w,9408,64x3x7x7,1,5\na,b,64,64,0,\na,c,8,,0,\n");
  EXPECT_EQ(known[0].modelled_dimensions, (Dimensions{64, 3, 7, 7}));
  EXPECT_EQ(known[1].modelled_dimensions, Dimensions{64});
  EXPECT_EQ(known[2].modelled_dimensions, Dimensions{});
  EXPECT_THAT(error(head + "a,w,9409,64x3x7x7,1,5\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("'64x3x7x7' have 9408 elements"), HasSubstr("9409 parameters")));
  EXPECT_THAT(error(head + "a,w,0,64x0,1,5\n"), AllOf(HasSubstr("line 2"), HasSubstr("'64x0'")));
  EXPECT_THAT(error(head + "a,w,64,64x,1,5\n"), AllOf(HasSubstr("line 2"), HasSubstr("'64x'")));
  EXPECT_THAT(error(head + "a,w,64,8*8,1,5\n"), AllOf(HasSubstr("line 2"), HasSubstr("'8*8'")));
  EXPECT_THAT(error(head + "a,w,64,1000000000x1000000000x64,1,5\n"), HasSubstr("line 2"));
}

TEST(Profile, ShippedTablesHaveTheDimensionsOfTheirNetworks) {
  const auto of = [](const std::string& spec, const std::string& name) {
    for (const Parameter& parameter : Rig(spec).parameters) {
      if (parameter.name == name) return parameter.modelled_dimensions;
    }
    return Dimensions{};
  };
  EXPECT_EQ(of("vgg16", "conv1_1.weight"), (Dimensions{64, 3, 3, 3}));
  EXPECT_EQ(of("vgg16", "conv5_3.weight"), (Dimensions{512, 512, 3, 3}));
  EXPECT_EQ(of("vgg16", "fc6.weight"), (Dimensions{4096, 512 * 7 * 7}));
  EXPECT_EQ(of("bert_large", "embeddings.word"), (Dimensions{30522, 1024}));
  EXPECT_EQ(of("bert_large", "block0.feed_forward.expand.weight"), (Dimensions{4096, 1024}));
  EXPECT_EQ(of("bert_large", "block23.attention.query.bias"), Dimensions{1024});
  for (const char* spec : {"vgg16", "bert_large"}) {
    for (const Parameter& parameter : Rig(spec).parameters) EXPECT_FALSE(parameter.modelled_dimensions.empty());
  }
}

/// Parameters whose dimensions cost as little as they have.
std::vector<Parameter> tensors(const std::vector<Dimensions>& all) {
  std::vector<Parameter> parameters;
  for (const Dimensions& dimensions : all) parameters.push_back(whole_parameter("one", dimensions, 0));
  return parameters;
}

TEST(TensorPlaces, MatricesGoToMatricesAndKeepTheirOrder) {
  using Places = std::vector<std::size_t>;
  // Middles of the matrices at 0.15, 0.48 and 0.82, of the vectors at 0.32, 0.65 and 0.98.
  const auto net = tensors({{10, 10}, {10}, {10, 10}, {10}, {10, 10}, {10}});
  EXPECT_EQ(tensor_places(tensors({{2, 2}, {2}}), net, ""), (Places{2, 5})) << "they are at 0.33 and 0.83";
  EXPECT_EQ(tensor_places(tensors({{2}, {2, 2}}), net, ""), (Places{1, 4})) << "they are at 0.17 and 0.67";
  EXPECT_EQ(tensor_places(tensors({{8, 8}, {8}, {8, 8}, {8}}), net, ""), (Places{0, 1, 4, 5}));
  EXPECT_EQ(tensor_places(net, net, ""), (Places{0, 1, 2, 3, 4, 5}));
  // Three matrices and one vector before them: one of the four must be among its unlikes.
  EXPECT_EQ(tensor_places(tensors({{2}, {2, 2}, {2, 2}, {2, 2}}), net, "").size(), 4U);
  // A table that knows no dimensions.
  auto unknown = net;
  for (Parameter& parameter : unknown) parameter.modelled_dimensions.clear();
  EXPECT_EQ(tensor_places(tensors({{2, 2}, {2}}), unknown, ""), (Places{1, 4}));
  EXPECT_EQ(tensor_places({}, net, ""), Places{});
}

TEST(OnProfile, TensorsStayWhole) {
  const Rig rig("on_profile:model=(mlp:hidden=16),profile=vgg16");
  std::vector<std::string> with;
  std::int64_t costs = 0;
  for (const Parameter& parameter : rig.parameters) {
    costs += parameter.modelled_count;
    std::int64_t product = 1;
    for (const std::int64_t length : parameter.dimensions) product *= length;
    EXPECT_EQ(product, parameter.count == 0 ? 1 : parameter.count) << parameter.name;
    EXPECT_FALSE(parameter.modelled_dimensions.empty()) << parameter.name;
    if (parameter.count > 0) with.push_back(parameter.name);
  }
  EXPECT_EQ(costs, 138357544);
  EXPECT_EQ(with, (std::vector<std::string>{"fc6.weight", "fc6.bias", "fc7.weight", "fc8.bias"}));
  EXPECT_EQ(rig.parameters[26].dimensions, (Dimensions{64, 16}));
  EXPECT_FALSE(rig.workload->phantom());
}

TEST(OnProfile, AModelWithMoreTensorsThanTheProfileIsRefused) {
  try {
    Rig("on_profile:model=(mlp:hidden=8x8x8x8x8x8x8x8x8x8x8x8x8x8x8x8),profile=vgg16");
    FAIL() << "34 tensors in 32";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("34 tensors"), HasSubstr("32"), HasSubstr("vgg16's clock")));
  }
}

TEST(OnProfile, TrainsLikeTheModelAndTakesTheProfilesTime) {
  const Shard shard{.global_batch = 32, .seed = 9};
  Rig model("mlp:hidden=12x9", shard);
  Rig both("on_profile:model=(mlp:hidden=12x9),profile=(vgg16:compute=0.2s)", shard, {.bytes = 0});
  const auto flat = [](const Workload::HostWeights& weights) {
    std::vector<float> all;
    for (const auto& tensor : weights) all.insert(all.end(), tensor.begin(), tensor.end());
    return all;
  };
  EXPECT_EQ(flat(model.weights()), flat(both.weights()));
  for (int step = 0; step < 5; ++step) {
    model.train(step, 0.1F);
    both.worker.step = step;
    const double before = both.runtime.device().seconds;
    both.workload->forward(both.worker);
    for (int layer = both.workload->layers() - 1; layer >= 0; --layer) {
      both.workload->backward(both.worker, layer);
      // Buckets are updated as backward goes: later gradients must still be those of the old weights.
      for (Bucket& bucket : both.store->buckets()) {
        if (bucket.first_layer != layer) continue;
        const Device::Uncharged uncharged(both.worker.device);
        both.worker.device.axpby(-0.1F, bucket.gradients, 1, bucket.weights);
      }
    }
    EXPECT_NEAR(both.runtime.device().seconds - before, 0.2, 1e-12);
  }
  EXPECT_EQ(flat(model.weights()), flat(both.weights()));
  EXPECT_EQ(both.runtime.device().work.flops, 0) << "the model's arithmetic is free";
  EXPECT_EQ(both.host(both.workload->loss()), model.host(model.workload->loss()));
  EXPECT_EQ(both.workload->objective(both.worker.device, both.weights()),
            model.workload->objective(model.worker.device, model.weights()));
  EXPECT_EQ(both.workload->accuracy(both.worker.device, both.weights()),
            model.workload->accuracy(model.worker.device, model.weights()));
  EXPECT_EQ(both.workload->description(), "mlp 64-12-9-10 on digits: its loss on vgg16's clock");
}

TEST(OnProfile, RefusesProductsOfTheWrongKind) {
  EXPECT_THROW(Workloads::make("on_profile:model=vgg16"), UsageError);
  EXPECT_THROW(Workloads::make("on_profile:profile=mlp"), UsageError);
  EXPECT_THROW(Workloads::make("on_profile:model=on_profile"), UsageError);
}

TEST(OnProfile, AnEmptyShardGivesZeroAndTakesTime) {
  Rig rig("on_profile:model=softmax,profile=vgg16", {.rank = 3, .world = 4, .global_batch = 3});
  EXPECT_EQ(rig.workload->local_batch(), 0);
  EXPECT_EQ(rig.compute(0), 0);
  EXPECT_THAT(rig.gradients(), ::testing::Each(0.0F));
  EXPECT_GT(rig.runtime.device().seconds, 0);
}

}  // namespace
}  // namespace trigram
