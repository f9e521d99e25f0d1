// The transformer: gradients against finite differences of an independent double-precision loss, shares, scores, and
// learning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "experiments/workloads/data/batches.hpp"
#include "experiments/workloads/data/character_text.hpp"
#include "tests/experiments/workloads_rig.hpp"

namespace trigram::testing::workloads_transformer_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Vector = std::vector<double>;
using Tensors = std::vector<Vector>;

/// A file with this text while the test runs.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("trigram_text_" + std::to_string(::getpid()) + "_" + std::to_string(text.size()))) {
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  std::string path() const { return path_.string(); }
  std::string spec(const std::string& parameters) const { return "transformer:text=" + path() + "," + parameters; }

 private:
  std::filesystem::path path_;
};

const std::string verse = "a cab, a bead, a cafe: bed a deaf bee; fade a cad. feed a dab, bad ace.";  // 71 characters

Tensors in_double(const Workload::HostWeights& weights) {
  Tensors all;
  for (const auto& tensor : weights) all.emplace_back(tensor.begin(), tensor.end());
  return all;
}

/// A decoder by plain loops, one window of characters at a time.
class Reference {
 public:
  Reference(const Tensors& tensors, std::size_t width, std::size_t heads)
      : tensors_(tensors), width_(width), heads_(heads) {}

  /// Mean cross-entropy over the windows of `context` characters that begin at these places.
  double loss(const CharacterText& text, std::size_t context, const std::vector<std::int64_t>& begins) const {
    double total = 0;
    for (const std::int64_t begin : begins) {
      const std::int32_t* characters = text.characters.data() + begin;
      const Tensors logits = rows(characters, context);
      for (std::size_t i = 0; i < context; ++i) {
        double sum = 0;
        for (const double logit : logits[i]) sum += std::exp(logit);
        total += std::log(sum) - logits[i][static_cast<std::size_t>(characters[i + 1])];
      }
    }
    return total / static_cast<double>(begins.size() * context);
  }

 private:
  Tensors rows(const std::int32_t* characters, std::size_t context) const {
    Tensors x(context, Vector(width_));
    for (std::size_t i = 0; i < context; ++i)
      for (std::size_t j = 0; j < width_; ++j)
        x[i][j] = tensors_[0][static_cast<std::size_t>(characters[i]) * width_ + j] + tensors_[1][i * width_ + j];
    std::size_t at = 2;
    for (; at + 4 < tensors_.size(); at += 12) {
      const Tensors seen = attended(each(x, [&](const Vector& row) { return linear(normal(row, at), at + 2); }));
      for (std::size_t i = 0; i < context; ++i) {
        add(x[i], linear(seen[i], at + 4));
        Vector hidden = linear(normal(x[i], at + 6), at + 8);
        for (double& value : hidden) value = std::max(value, 0.0);
        add(x[i], linear(hidden, at + 10));
      }
    }
    return each(x, [&](const Vector& row) { return linear(normal(row, at), at + 2); });
  }
  template <class Change>
  static Tensors each(const Tensors& rows, const Change& change) {
    Tensors changed;
    for (const Vector& row : rows) changed.push_back(change(row));
    return changed;
  }
  static void add(Vector& to, const Vector& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  }
  Vector linear(const Vector& x, std::size_t at) const {
    Vector y = tensors_[at + 1];
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * tensors_[at][i * y.size() + j];
    return y;
  }
  Vector normal(const Vector& x, std::size_t at) const {
    const auto count = static_cast<double>(x.size());
    double mean = 0, squares = 0;
    for (const double value : x) mean += value / count;
    for (const double value : x) squares += (value - mean) * (value - mean) / count;
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i)
      y.push_back((x[i] - mean) / std::sqrt(squares + 1e-5) * tensors_[at][i] + tensors_[at + 1][i]);
    return y;
  }
  Tensors attended(const Tensors& projected) const {
    const std::size_t size = width_ / heads_;
    Tensors out(projected.size(), Vector(width_));
    for (std::size_t i = 0; i < projected.size(); ++i)
      for (std::size_t first = 0; first < width_; first += size) {
        Vector weights;
        double sum = 0;
        for (std::size_t j = 0; j <= i; ++j) {
          double score = 0;
          for (std::size_t d = first; d < first + size; ++d) score += projected[i][d] * projected[j][width_ + d];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
          sum += weights.back();
        }
        for (std::size_t j = 0; j <= i; ++j)
          for (std::size_t d = first; d < first + size; ++d)
            out[i][d] += weights[j] / sum * projected[j][2 * width_ + d];
      }
    return out;
  }

  const Tensors& tensors_;
  std::size_t width_, heads_;
};

/// Where the windows of the first step begin, in a text of which `training` characters are trained on.
std::vector<std::int64_t> first_batch(std::int64_t training, std::int64_t context, const Shard& shard) {
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(training - context));
  return Batches(labels, 1, shard, shard.global_batch).indices(0);
}

constexpr const char* small = "layers=2,width=4,heads=2,context=6";

TEST(Transformer, GradientsEqualFiniteDifferences) {
  const TextFile file(verse);
  const auto text = shared_text(file.path());
  const Shard shard{.global_batch = 3, .seed = 5};
  Rig rig(file.spec(small), shard);
  rig.train(0, 0.1F);  // off the initial point, where biases are zero and gains one
  const float loss = rig.compute(0);
  Tensors weights = in_double(rig.weights());
  const auto begins = first_batch(text->training, 6, shard);
  const auto reference = [&] { return Reference(weights, 4, 2).loss(*text, 6, begins); };
  EXPECT_NEAR(loss, reference(), 1e-5);
  const std::vector<float> gradients = rig.gradients();
  std::size_t at = 0;
  for (std::size_t tensor = 0; tensor < weights.size(); ++tensor) {
    for (double& weight : weights[tensor]) {
      constexpr double step = 1e-5;
      const double before = weight;
      weight = before + step;
      const double above = reference();
      weight = before - step;
      ASSERT_NEAR(gradients.at(at++), (above - reference()) / (2 * step), 1e-5) << rig.parameters[tensor].name;
      weight = before;
    }
  }
  EXPECT_EQ(at, gradients.size());
}

// With overlap, layers above may have been updated already: their weights are not looked at.
TEST(Transformer, BackwardReadsItsOwnWeightsOnly) {
  const TextFile file(verse);
  Rig rig(file.spec(small), {.global_batch = 2});
  rig.compute(0);
  const std::vector<float> expected = rig.gradients();
  rig.workload->forward(rig.worker);
  for (int layer = rig.workload->layers() - 1; layer >= 0; --layer) {
    rig.workload->backward(rig.worker, layer);
    for (std::size_t i = 0; i < rig.parameters.size(); ++i) {
      if (rig.parameters[i].layer == layer) rig.runtime.device().fill(rig.store->parameters()[i].weights, NAN);
    }
  }
  EXPECT_EQ(rig.gradients(), expected);
}

TEST(Transformer, TensorsComeByLayerAndWeightsOfLinearMapsDecay) {
  const TextFile file(verse);
  const Rig rig(file.spec(small));
  int layer = 0;
  for (const Parameter& parameter : rig.parameters) {
    EXPECT_TRUE(parameter.layer == layer || parameter.layer == layer + 1) << parameter.name;
    layer = parameter.layer;
    EXPECT_EQ(parameter.decays, parameter.name.ends_with(".weight")) << parameter.name;
  }
  EXPECT_EQ(layer + 1, rig.workload->layers());
  EXPECT_EQ(rig.workload->layers(), 6);  // embedding, two blocks of two, head
}

/// The mean over ranks of gradients at the initial weights.
std::vector<double> mean_gradient(const std::string& spec, Shard shard, std::int64_t& samples) {
  std::vector<double> mean;
  samples = 0;
  for (shard.rank = 0; shard.rank < shard.world; ++shard.rank) {
    Rig rig(spec, shard);
    rig.compute(0);
    const std::vector<float> gradients = rig.gradients();
    mean.resize(gradients.size());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(gradients[i]) / shard.world;
    samples += rig.workload->local_batch();
    if (rig.workload->local_batch() > 0) continue;
    EXPECT_THAT(gradients, ::testing::Each(0.0F));
    EXPECT_EQ(rig.host(rig.workload->loss()).front(), 0.0F);
  }
  return mean;
}

TEST(Transformer, MeanOverRanksIsTheGlobalBatchWhateverTheWorld) {
  const TextFile file(verse);
  std::int64_t samples = 0;
  const auto one = mean_gradient(file.spec(small), {.world = 1, .global_batch = 6, .seed = 3}, samples);
  for (const int world : {2, 4, 7}) {
    const auto many = mean_gradient(file.spec(small), {.world = world, .global_batch = 6, .seed = 3}, samples);
    EXPECT_EQ(samples, 6);
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(many[i], one[i], 1e-5);
  }
  mean_gradient(file.spec(small), {.world = 8, .global_batch = 9, .label_skew = 0.05, .seed = 3}, samples);
  EXPECT_EQ(samples, 9) << "with skew";
}

TEST(Transformer, SameSeedSameBits) {
  const TextFile file(verse);
  const auto trained = [&](int rank, std::uint64_t seed, std::int64_t steps) {
    Rig rig(file.spec(small), {.rank = rank, .world = 2, .global_batch = 4, .seed = seed});
    for (std::int64_t step = 0; step < steps; ++step) rig.train(step, 0.1F);
    return rig.weights();
  };
  EXPECT_EQ(trained(0, 7, 0), trained(1, 7, 0));
  EXPECT_NE(trained(0, 7, 0), trained(0, 8, 0));
  EXPECT_EQ(trained(0, 7, 5), trained(0, 7, 5));
}

TEST(Transformer, ScoresLikeTheReferenceAndSpendsNoTime) {
  const TextFile file(verse);
  const auto text = shared_text(file.path());
  ASSERT_EQ(text->count(), 71);
  ASSERT_EQ(text->training, 64);
  const auto objective = [&](const std::string& parameters, const Shard& shard,
                             const std::vector<std::int64_t>& begins) {
    Rig rig(file.spec(std::string(small) + parameters), shard);
    EXPECT_NEAR(*rig.workload->objective(rig.runtime.device(), rig.weights()),
                Reference(in_double(rig.weights()), 4, 2).loss(*text, 6, begins), 1e-5);
    EXPECT_EQ(rig.runtime.device().work.flops, 0);
  };
  objective(",score_samples=0", {}, {0, 6, 12, 18, 24, 30, 36, 42, 48, 54});
  objective(",score_samples=4", {}, {0, 12, 30, 42});
  objective(",score_samples=0", {.validation = true}, {54});  // a sixth of 64 are 10
}

// A text that repeats itself every twelve characters can be known but for where a window begins.
TEST(Transformer, LearnsWhatRepeats) {
  std::string text;
  while (text.size() < 600) text += "to be or not ";
  const TextFile file(text);
  Rig rig(file.spec("layers=1,width=16,heads=2,context=16,batch=8"), {.seed = 2});
  const auto accuracy = [&] { return rig.workload->accuracy(rig.runtime.device(), rig.weights()); };
  EXPECT_LT(accuracy(), 0.4);
  for (int step = 0; step < 150; ++step) rig.train(step, 0.3F);
  EXPECT_GT(accuracy(), 0.9);
  EXPECT_LT(*rig.workload->objective(rig.runtime.device(), rig.weights()), 0.4);
  Workload::HostWeights diverged = rig.weights();
  diverged[5][0] = NAN;
  EXPECT_TRUE(std::isnan(*rig.workload->objective(rig.runtime.device(), diverged)));
  EXPECT_EQ(rig.workload->accuracy(rig.runtime.device(), diverged), 0.0);
}

TEST(Transformer, ComesWithAText) {
  const auto text = shared_text("");
  EXPECT_EQ(text->count(), 699'999);
  EXPECT_EQ(text->training, 630'000);
  EXPECT_EQ(text->alphabet, "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  std::string begin;
  for (std::size_t i = 0; i < 14; ++i) begin += text->alphabet[static_cast<std::size_t>(text->characters[i])];
  EXPECT_EQ(begin, "First Citizen:");
  EXPECT_EQ(Rig("transformer:score_samples=1").workload->description(), "transformer 2x64 on shakespeare");
}

TEST(Transformer, RefusesWhatCannotBe) {
  const TextFile file(verse);
  const auto opened = [](const std::string& spec, const Shard& shard = {}) {
    return [=] { Workloads::make(spec)->open(shard); };
  };
  EXPECT_THAT(opened("transformer:heads=5"),
              ThrowsMessage<UsageError>(HasSubstr("workload 'transformer': a width of 64 cannot be cut into 5 heads")));
  EXPECT_THAT(
      opened(file.spec("context=7")),
      ThrowsMessage<UsageError>(AllOf(HasSubstr("context=7 takes more than 7 characters"), HasSubstr("has 64 and 7"))));
  EXPECT_NO_THROW(opened(file.spec("context=6"))());
  EXPECT_THAT(opened("transformer:text=/nowhere/at_all"),
              ThrowsMessage<UsageError>(HasSubstr("workload 'transformer': text=/nowhere/at_all: cannot be opened")));
  EXPECT_THAT(opened("transformer", {.global_batch = -1}), ThrowsMessage<UsageError>(HasSubstr("-1 windows")));
  EXPECT_THAT(opened("transformer:layers=256,width=65536,heads=1"),
              ThrowsMessage<UsageError>(HasSubstr("a transformer of 13194370482241 parameters")));
  const TextFile empty("");
  EXPECT_THAT(opened(empty.spec("context=1")), ThrowsMessage<UsageError>(HasSubstr("is empty")));
}

}  // namespace
}  // namespace trigram::testing::workloads_transformer_test
