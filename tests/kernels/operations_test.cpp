// Operations of models: by name against what they declare, on each device against the host, and known values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "core/conformance/operation_check.hpp"
#include "core/step/operation.hpp"
#include "core/values/error.hpp"
#include "kernels/operations/in_place.hpp"
#include "tests/kernels/shape_refusal.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

using Floats = std::vector<float>;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// Its first input, doubled; each mutant is wrong in one way.
class Mutant : public Operation {
 public:
  explicit Mutant(std::string wrong) : wrong_(std::move(wrong)) {}
  std::vector<OperationInput> inputs() const override {
    return {{"values", wrong_ == "passes" ? InputGradient::passed : InputGradient::computed}};
  }
  OperationShapes shapes(const TensorShapes& inputs) const override { return {inputs}; }
  OperationWork work(const TensorShapes&) const override {
    return {{1, 1}, wrong_ == "free" ? std::vector<KernelCost>{} : std::vector<KernelCost>{{1, 1}}};
  }
  bool in_place() const override { return true; }
  std::vector<TensorShapes> trials() const override { return {{{{33}}}}; }

 protected:
  void compute(Kernels& kernels, const TensorShapes&, const OperationForward& memory) const override {
    if (wrong_ == "adds") {
      const std::array operands{memory.inputs[0], memory.outputs[0]};
      return rule_on(kernels.kind(), "axpby").run(kernels, std::array{2.0, 1.0}, operands);
    }
    bring(kernels, memory.inputs[0], memory.outputs[0]);
    scale(kernels, memory.outputs[0], 2);
  }
  void differentiate(Kernels& kernels, const TensorShapes&, const OperationBackward& memory) const override {
    const bool part = wrong_ == "unwritten";
    const std::int64_t count = memory.output_gradients[0].count() - (part ? 1 : 0);
    const Buffer gradient = memory.input_gradients[0].slice(0, count);
    bring(kernels, memory.output_gradients[0].slice(0, count), gradient);
    scale(kernels, gradient, wrong_ == "slope" ? 1.9F : 2);
  }

 private:
  static void scale(Kernels& kernels, Buffer x, double a) {
    rule_on(kernels.kind(), "scale").run(kernels, std::array{a}, std::array{x});
  }

  std::string wrong_;
};

constexpr const char* wrong_ways[] = {"slope", "passes", "free", "adds", "unwritten"};

struct Mutants {
  Mutants() {
    for (const std::string wrong : {"nothing", "slope", "passes", "free", "adds", "unwritten"}) {
      for (const char* kind : {"cpu/mutant_", "cuda/mutant_"})
        Operations::Registration(kind + wrong, {"a mutant"},
                                 [wrong](Params&) { return std::make_unique<Mutant>(wrong); });
    }
  }
};
const Mutants mutants;

TEST(OperationCheck, RefusesWhatItWouldNotGetThrough) {
  EXPECT_THAT(
      [] {
        TestDevice device;
        try_operation("conv2d:padding=1000", device);
      },
      ThrowsMessage<UsageError>(HasSubstr("checking operation 'conv2d:padding=1000' goes through")));
}

TEST(OperationCheck, NoticesWhatIsWrong) {
  TestDevice device;
  EXPECT_THAT(try_operation("mutant_nothing", device).at(0).violations, IsEmpty());
  for (const std::string wrong : wrong_ways)
    EXPECT_FALSE(try_operation("mutant_" + wrong, device).at(0).violations.empty()) << wrong;
}

class EveryOperation : public ::testing::Test {
 protected:
  TestDevice tested_;

  /// With defaults, and with what else each of them can be.
  std::vector<std::string> specs() {
    std::vector<std::string> all = {"conv2d:stride=2", "conv2d:padding=2", "conv2d:stride=3,padding=1",
                                    "cross_entropy:scale=0.125", "layer_norm:epsilon=0.25"};
    const std::string prefix = std::string(tested_.kind()) + "/";
    for (const std::string& name : Operations::names()) {
      if (name.starts_with(prefix) && !name.starts_with(prefix + "mutant_")) all.push_back(name.substr(prefix.size()));
    }
    return all;
  }
};

TEST_F(EveryOperation, HoldsWhatItDeclares) {
  for (const std::string& spec : specs()) {
    for (const TriedOperation& tried : try_operation(spec, tested_)) {
      EXPECT_EQ(text_of(tried.violations, "  "), "") << spec;
    }
  }
}

TEST_F(EveryOperation, IsThereOnTheHostToo) {
  for (const std::string& spec : specs()) {
    const TensorShapes trial = tested_.make_operation(spec)->trials().at(0);
    const AppliedOperation host(TestDevice(Instructions::portable), spec, trial), here(tested_, spec, trial);
    EXPECT_EQ(host.work().forward.flops, here.work().forward.flops) << spec;
    EXPECT_EQ(host.outputs().at(0).text(), here.outputs().at(0).text()) << spec;
  }
}

/// A call of an operation with buffers that the caller holds.
class Applied : public ::testing::Test {
 protected:
  TestDevice device_;
  OwnedBuffer one_ = device_.allocate(Shape::of(1, DType::f32));

  /// What data says is wrong is known to the host at its next wait.
  template <class Call>
  void expect_refused(const Call& call) {
    EXPECT_THROW((call(), device_.synchronize()), Error);
    EXPECT_NO_THROW(device_.synchronize()) << "told twice";
  }
  OwnedBuffer room(const TensorShape& shape) { return device_.allocate(Shape::of(shape.count(), shape.dtype)); }
};

TEST_F(Applied, BiasReluAndEmbedding) {
  const OwnedBuffer rows = device_.hold({1, -2, 3, -4, 5, -6}), terms = device_.hold({1, 1, 1});
  const AppliedOperation bias(device_, "bias", {{{2, 3}}, {{3}}}), relu(device_, "relu", {{{2, 3}}});
  bias.forward(device_, {.inputs = {rows, terms}, .outputs = {rows}});
  EXPECT_EQ(device_.values(rows), (Floats{2, -1, 4, -3, 6, -5}));
  const OwnedBuffer sums = room({{3}});
  bias.backward(device_, {{rows, terms}, {rows}, {}, {rows}, {Buffer(), sums}});
  EXPECT_EQ(device_.values(sums), (Floats{-1, 5, -1}));
  relu.forward(device_, {.inputs = {rows}, .outputs = {rows}});
  EXPECT_EQ(device_.values(rows), (Floats{2, 0, 4, 0, 6, 0}));
  const OwnedBuffer gradient = device_.hold({1, 1, 1, 1, 1, 1});
  relu.backward(device_, {{rows}, {rows}, {}, {gradient}, {gradient}});
  EXPECT_EQ(device_.values(gradient), (Floats{1, 0, 1, 0, 1, 0}));

  const AppliedOperation embedding(device_, "embedding", {{{2, 3}}, {{3}, DType::i32}});
  const OwnedBuffer picked = room({{3, 3}}), table = room({{2, 3}});
  const OwnedBuffer places = device_.hold(std::vector<std::int32_t>{1, 0, 1}, DType::i32);
  embedding.forward(device_, {.inputs = {rows, places}, .outputs = {picked}});
  EXPECT_EQ(device_.values(picked), (Floats{0, 6, 0, 2, 0, 4, 0, 6, 0}));
  embedding.backward(device_, {{rows, places}, {picked}, {}, {picked}, {table, Buffer()}});
  EXPECT_EQ(device_.values(table), (Floats{2, 0, 4, 0, 12, 0}));
  const OwnedBuffer outside = device_.hold(std::vector<std::int32_t>{0, 2, 0}, DType::i32);
  expect_refused([&] { embedding.forward(device_, {.inputs = {rows, outside}, .outputs = {picked}}); });
}

// Rows of mean 0 and variance 1 up to the epsilon; a shift and a factor of a whole row change nothing.
TEST_F(Applied, LayerNormHasTheMomentsOfItsName) {
  const AppliedOperation norm(device_, "layer_norm:epsilon=0", {{{3, 4}}, {{4}}, {{4}}});
  const OwnedBuffer rows = device_.hold({1, 2, 3, 4, 104, 103, 102, 101, -20, 20, 20, -20}), out = room({{3, 4}});
  const OwnedBuffer gain = device_.hold({1, 1, 1, 2}), shift = device_.hold({0, 0, 0, 5});
  const OwnedBuffer means = room({{3}}), scales = room({{3}});
  norm.forward(device_, {{rows, gain, shift}, {out}, {means, scales}});
  const double a = std::sqrt(0.2);  // 0.5 / √1.25
  const std::vector<double> expected = {-3 * a, -a, a, 6 * a + 5, 3 * a, a, -a, -6 * a + 5, -1, 1, 1, 3};
  const Floats found = device_.values(out);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
  EXPECT_EQ(device_.values(means), (Floats{2.5F, 102.5F, 0}));
}

// Equal logits: loss ln 3 and softmax 1/3; logits of 1000 apart overflow no exponential.
TEST_F(Applied, CrossEntropyIsStable) {
  const OwnedBuffer logits = device_.hold({5, 5, 5, 1000, 0, 0});
  const OwnedBuffer labels = device_.hold(std::vector<std::int64_t>{1, 2}, DType::i64);
  const AppliedOperation loss(device_, "cross_entropy:scale=0.5", {{{2, 3}}, {{2}, DType::i64}});
  loss.forward(device_, {.inputs = {logits, labels}, .outputs = {one_}, .saved = {logits}});
  EXPECT_NEAR(device_.values(one_)[0], 0.5 * (std::log(3.0) + 1000.0), 1e-3);
  const Floats expected = {0.5F / 3, -1.0F / 3, 0.5F / 3, 0.5F, 0, -0.5F};
  const Floats gradient = device_.values(logits);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-6);
}

TEST_F(Applied, AnEmptyBatchHasLossAndSumsOfZero) {
  device_.fill(one_, 7);
  const OwnedBuffer none = room({{0, 2}}), labels = room({{0}, DType::i32}), sums = device_.hold({7, 7});
  AppliedOperation(device_, "cross_entropy", {{{0, 2}}, {{0}, DType::i32}})
      .forward(device_, {.inputs = {none, labels}, .outputs = {one_}, .saved = {none}});
  EXPECT_EQ(device_.values(one_)[0], 0.0F);
  AppliedOperation(device_, "bias", {{{0, 2}}, {{2}}})
      .backward(device_, {{none, sums}, {none}, {}, {none}, {Buffer(), sums}});
  EXPECT_EQ(device_.values(sums), (Floats{0, 0}));
}

TEST_F(Applied, CountsCorrectRows) {
  const OwnedBuffer correct = room({{1}, DType::i64});
  const auto count = [&](const Floats& logits, const std::vector<std::int32_t>& labels) {
    const auto rows = static_cast<std::int64_t>(labels.size()), all = static_cast<std::int64_t>(logits.size());
    AppliedOperation(device_, "count_correct", {{{rows, all / rows}}, {{rows}, DType::i32}})
        .forward(device_, {.inputs = {device_.hold(logits), device_.hold(labels, DType::i32)}, .outputs = {correct}});
    return device_.values<std::int64_t>(correct)[0];
  };
  const float nan = std::nanf("");
  EXPECT_EQ(count({0, 1, 0, 1, 0, nan}, {1, 0, 1}), 1);
  EXPECT_EQ(count({nan, 1, 2, 1, nan, 0, 3, 1, nan, 2, 2, 1}, {2, 0, 0, 1}), 2);
  EXPECT_EQ(count({1, 1}, {0}), 1) << "the first of equal ones";
  EXPECT_EQ(count({1, 1}, {1}), 0);
  expect_refused([&] { count(Floats(6), {1, 0, 2}); });
}

// Labels and positions of both sizes, at each step of an unrolled loop: the first number that is none, and the one
// before the first.
TEST_F(Applied, RefusesLabelsAndPositionsOutsideTheirRange) {
  constexpr std::int64_t rows = 6, range = 3;
  const OwnedBuffer matrix = room({{rows, range}}), table = room({{range, 2}}), picked = room({{rows, 2}});
  const OwnedBuffer correct = room({{1}, DType::i64}), saved = room({{rows, range}});
  const auto expect_all_refused = [&]<class Index>(DType dtype, std::size_t row, Index wrong) {
    std::vector<Index> indices(rows, range - 1);
    indices[row] = wrong;
    const OwnedBuffer which = device_.hold(indices, dtype);
    const TensorShapes classified{{{rows, range}}, {{rows}, dtype}}, embedded{{{range, 2}}, {{rows}, dtype}};
    const AppliedOperation count(device_, "count_correct", classified), loss(device_, "cross_entropy", classified),
        embedding(device_, "embedding", embedded);
    expect_refused([&] { count.forward(device_, {.inputs = {matrix, which}, .outputs = {correct}}); });
    expect_refused([&] { loss.forward(device_, {.inputs = {matrix, which}, .outputs = {one_}, .saved = {saved}}); });
    expect_refused([&] { embedding.forward(device_, {.inputs = {table, which}, .outputs = {picked}}); });
    if (device_.kind() != "cpu") {  // where positions were looked at on their way forward
      expect_refused([&] { embedding.backward(device_, {{table, which}, {picked}, {}, {picked}, {table, Buffer()}}); });
    }
  };
  for (std::size_t row = 0; row < rows; ++row) {
    for (const std::int64_t wrong : {std::int64_t{-1}, range}) {
      SCOPED_TRACE(std::to_string(wrong) + " of row " + std::to_string(row));
      expect_all_refused(DType::i32, row, static_cast<std::int32_t>(wrong));
      expect_all_refused(DType::i64, row, wrong);
    }
  }
}

/// y, ∂images and ∂filters by their definition, in double.
struct Direct {
  std::vector<double> out, images, filters;

  Direct(const Dimensions& x, const Dimensions& w, std::int64_t stride, std::int64_t padding, const Dimensions& y,
         const Floats& pixels, const Floats& weights, const Floats& above)
      : out(above.size()), images(pixels.size()), filters(weights.size()) {
    std::size_t at = 0;
    for (std::int64_t n = 0; n < y[0]; ++n)
      for (std::int64_t f = 0; f < y[1]; ++f)
        for (std::int64_t i = 0; i < y[2]; ++i)
          for (std::int64_t j = 0; j < y[3]; ++j, ++at)
            for (std::int64_t c = 0; c < w[1]; ++c)
              for (std::int64_t r = 0; r < w[2]; ++r)
                for (std::int64_t s = 0; s < w[3]; ++s) {
                  const std::int64_t row = i * stride + r - padding, column = j * stride + s - padding;
                  if (row < 0 || row >= x[2] || column < 0 || column >= x[3]) continue;
                  const auto pixel = static_cast<std::size_t>(((n * x[1] + c) * x[2] + row) * x[3] + column);
                  const auto weight = static_cast<std::size_t>(((f * w[1] + c) * w[2] + r) * w[3] + s);
                  const auto slope = static_cast<double>(above[at]);
                  out[at] += static_cast<double>(pixels[pixel]) * static_cast<double>(weights[weight]);
                  images[pixel] += slope * static_cast<double>(weights[weight]);
                  filters[weight] += slope * static_cast<double>(pixels[pixel]);
                }
  }
};

void expect_near(const Floats& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-6 * largest) << what << " " << i;
}

// Filters of even and odd sizes, larger than the image but for its padding, strides that leave pixels unseen.
TEST_F(Applied, ConvolutionIsTheDirectOne) {
  struct Case {
    Dimensions images, filters;
    std::int64_t stride, padding;
  };
  std::vector<Case> cases = {
      {{2, 3, 8, 7}, {4, 3, 3, 3}, 1, 1},  {{1, 1, 1, 1}, {1, 1, 1, 1}, 1, 0},  {{1, 2, 5, 9}, {3, 2, 1, 1}, 2, 0},
      {{3, 1, 2, 2}, {2, 1, 4, 4}, 1, 1},  {{1, 2, 3, 3}, {1, 2, 2, 5}, 4, 3},  {{2, 2, 11, 6}, {5, 2, 4, 2}, 3, 2},
      {{1, 3, 6, 33}, {2, 3, 2, 7}, 2, 5}, {{2, 1, 17, 1}, {3, 1, 5, 1}, 2, 0}, {{1, 4, 4, 4}, {70, 4, 3, 3}, 1, 2},
      {{1, 1, 3, 4}, {1, 1, 3, 4}, 5, 0},  {{1, 2, 2, 3}, {2, 2, 3, 3}, 1, 7}};
  for (std::int64_t i = 0; i < 24; ++i) {
    const std::int64_t rows = 1 + i % 5, columns = 1 + i * 7 % 4, channels = 1 + i % 3;
    cases.push_back({{1 + i % 2, channels, rows + i * 5 % 7, columns + i * 3 % 8},
                     {1 + i * 11 % 6, channels, rows, columns},
                     1 + i % 4,
                     i * 13 % 4});
  }
  for (const auto& [images, filters, stride, padding] : cases) {
    const std::string spec = "conv2d:stride=" + std::to_string(stride) + ",padding=" + std::to_string(padding);
    const TensorShapes shapes{{images}, {filters}};
    const AppliedOperation conv(device_, spec, shapes);
    const TensorShape out = conv.outputs().at(0);
    const std::string what = spec + " on " + shapes[0].text() + " and " + shapes[1].text();
    ASSERT_EQ(out.dimensions[2], (images[2] + 2 * padding - filters[2]) / stride + 1) << what;
    const Floats pixels = random_vector(shapes[0].count(), 1), weights = random_vector(shapes[1].count(), 2),
                 above = random_vector(out.count(), 3);
    const OwnedBuffer x = device_.hold(pixels), w = device_.hold(weights), slope = device_.hold(above);
    const OwnedBuffer y = room(out), dx = room(shapes[0]), dw = room(shapes[1]),
                      scratch = device_.allocate(conv.scratch());
    conv.forward(device_, {{x, w}, {y}, {}, scratch});
    conv.backward(device_, {{x, w}, {y}, {}, {slope}, {dx, dw}, scratch});
    const Direct direct(images, filters, stride, padding, out.dimensions, pixels, weights, above);
    expect_near(device_.values(y), direct.out, what);
    expect_near(device_.values(dx), direct.images, what + ": gradient of images");
    expect_near(device_.values(dw), direct.filters, what + ": gradient of filters");
  }
}

TEST(OperationShapes, ThatDoNotFitAreRefusedByName) {
  EXPECT_EQ(refusal("conv2d", {{{2, 3, 8, 8}}, {{4, 2, 3, 3}}}),
            "operation 'conv2d' on images [2, 3, 8, 8] of f32 and filters [4, 2, 3, 3] of f32: images have 3 channels, "
            "filters 2");
  EXPECT_THAT(refusal("conv2d:padding=1", {{{2, 3, 8, 8}}, {{4, 3, 11, 3}}}),
              HasSubstr("a filter is larger than the image with a padding of 1"));
  EXPECT_EQ(refusal("conv2d:padding=2", {{{2, 3, 8, 8}}, {{4, 3, 11, 3}}}), "taken");
  EXPECT_THAT(refusal("conv2d", {{{2, 3, 8, 8}}}),
              HasSubstr("operation 'conv2d' on images [2, 3, 8, 8] of f32: it takes 2"));
  EXPECT_THAT(refusal("conv2d:stride=0", {}), HasSubstr("conv2d': stride=0 is not a whole number from 1"));
  EXPECT_THAT(refusal("conv2", {}), HasSubstr("unknown operation 'conv2' (did you mean 'conv2d'?)"));
  EXPECT_THAT(refusal("bias", {{{2, 3}}, {{2}}}), HasSubstr("as long as the last one of the rows"));
  EXPECT_THAT(refusal("relu", {{{2}, DType::f16}}), HasSubstr("relu' on values [2] of f16: values must be f32"));
  EXPECT_THAT(refusal("cross_entropy", {{{2, 3}}, {{3}, DType::i32}}), HasSubstr("labels one a row"));
  EXPECT_THAT(refusal("relu", {{{1LL << 40, 1LL << 40}}}), HasSubstr("is beyond any memory"));
}

TEST_F(Applied, MemoryThatDoesNotFitIsAnError) {
  const OwnedBuffer three = device_.hold({1, 2, 3}), two = device_.hold({1, 2});
  const AppliedOperation relu(device_, "relu", {{{3}}});
  EXPECT_THROW(relu.forward(device_, {.inputs = {three}, .outputs = {two}}), Error);
  EXPECT_THROW(relu.forward(device_, {.inputs = {three, three}, .outputs = {three}}), Error);
  const AppliedOperation bias(device_, "bias", {{{1, 3}}, {{3}}});
  EXPECT_THROW(bias.backward(device_, {{three, three}, {three}, {}, {three}, {three, Buffer()}}), Error)
      << "rows pass their gradient on";
  const AppliedOperation conv(device_, "conv2d", {{{1, 1, 3, 1}}, {{1, 1, 1, 1}}});
  EXPECT_THROW(conv.forward(device_, {{three, device_.hold({1})}, {three}, {}, two}), Error) << "too little scratch";
  const AppliedOperation nowhere("relu", {{{3}}});
  EXPECT_THROW(nowhere.forward(device_, {.inputs = {three}, .outputs = {three}}), Error);
}

// 2^37 elements and more: nothing is touched, or this dies.
TEST_F(Applied, APhantomIsChargedTheDeclaredWork) {
  const auto phantom = [&](const TensorShape& shape) {
    return device_.allocate({shape.count(), shape.dtype, shape.count(), true});
  };
  const TensorShapes shapes{{{1 << 16, 64, 56, 56}}, {{64, 64, 3, 3}}};
  const AppliedOperation conv(device_, "conv2d:padding=1", shapes);
  const OwnedBuffer x = phantom(shapes[0]), w = phantom(shapes[1]), y = phantom(conv.outputs()[0]);
  const OwnedBuffer scratch = device_.allocate({0, DType::f32, conv.scratch().count, true});
  conv.forward(device_, {{x, w}, {y}, {}, scratch});
  conv.backward(device_, {{x, w}, {y}, {}, {y}, {Buffer(), w}, scratch});
  conv.backward(device_, {{x, w}, {y}, {}, {y}, {x, w}, scratch});
  ASSERT_EQ(device_.spent.size(), 4U) << "a launch for forward and for each gradient that is wanted";
  const double images = 65536.0 * 64 * 56 * 56;
  for (const KernelCost& spent : device_.spent) {
    EXPECT_EQ(spent.flops, 2 * images * 64 * 9);
    EXPECT_EQ(spent.bytes, 4 * (2 * images + 64 * 64 * 9));
  }
}

TEST_F(Applied, AModelledShapeIsWhatCosts) {
  const OwnedBuffer x = device_.hold({1, -2, 3});
  const AppliedOperation relu(device_, "relu", {{{3}}}, {{{3000}}});
  relu.forward(device_, {.inputs = {x}, .outputs = {x}});
  ASSERT_EQ(device_.spent.size(), 1U);
  EXPECT_EQ(device_.spent[0].bytes, 2 * 4 * 3000.0);
  EXPECT_EQ(device_.values(x), (Floats{1, 0, 3}));
}

}  // namespace
}  // namespace trigram
