// Loops of kernels by each number of rounds that can matter: what an unrolled loop does at once, and one more and less;
// what a warp, a block and all blocks of a small device do, and what is left for another round.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/step/operation.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::rounds_test {
namespace {

using Floats = std::vector<float>;

/// Rounds of a loop that takes up to eight at once.
constexpr std::int64_t rounds[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24};
/// Lanes and threads: a warp and its rounds, a block of 64 and of 256, six blocks of 64.
constexpr std::int64_t widths[] = {1, 31, 32, 33, 64, 96, 128, 129, 160, 256, 288, 384, 385, 512, 700};

/// The elements of an input: numbers, or positions below `range`.
OwnedBuffer given(TestDevice& on, const TensorShape& shape, std::int64_t range, std::uint64_t seed) {
  const auto positions = [&]<class Index>(Index) {
    std::vector<Index> all(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<Index>(static_cast<std::int64_t>(7 * i + 3) % range);
    return on.hold(all, shape.dtype);
  };
  if (shape.dtype == DType::i32) return positions(std::int32_t{});
  if (shape.dtype == DType::i64) return positions(std::int64_t{});
  return on.hold(random_vector(shape.count(), seed));
}

Floats numbers(TestDevice& on, const Buffer& buffer) {
  if (buffer.dtype() == DType::f32) return on.values(buffer);
  Floats all;
  if (buffer.dtype() == DType::i32)
    for (const std::int32_t value : on.values<std::int32_t>(buffer)) all.push_back(static_cast<float>(value));
  if (buffer.dtype() == DType::i64)
    for (const std::int64_t value : on.values<std::int64_t>(buffer)) all.push_back(static_cast<float>(value));
  return all;
}

/// Memory of an operation that it writes, with something else in it before.
class Written {
 public:
  explicit Written(TestDevice& on) : on_(on) {}
  Buffer room(const TensorShape& shape) {
    owned_.push_back(on_.allocate(Shape::of(shape.count(), shape.dtype)));
    on_.fill(owned_.back(), 7);
    return owned_.back();
  }
  std::vector<Buffer> rooms(const TensorShapes& shapes) {
    std::vector<Buffer> all;
    for (const TensorShape& shape : shapes) all.push_back(room(shape));
    return all;
  }
  std::vector<Floats> all() {
    std::vector<Floats> found;
    for (const OwnedBuffer& buffer : owned_) found.push_back(numbers(on_, buffer));
    return found;
  }

 private:
  TestDevice& on_;
  std::vector<OwnedBuffer> owned_;
};

/// Which gradients are wanted, of those that are computed.
constexpr std::size_t all_gradients = ~std::size_t{0};

/// All that an operation writes forward and backward; of gradients all, or that of one input.
std::vector<Floats> written_by(TestDevice& on, const std::string& spec, const TensorShapes& shapes,
                               std::size_t wanted) {
  const AppliedOperation applied(on, spec, shapes);
  const auto operation = on.make_operation(spec);
  std::vector<OwnedBuffer> inputs;
  for (const TensorShape& shape : shapes)
    inputs.push_back(given(on, shape, operation->shapes(shapes).positions, inputs.size()));
  const std::vector<Buffer> in(inputs.begin(), inputs.end());
  Written written(on);
  const std::vector<Buffer> out = written.rooms(applied.outputs()), saved = written.rooms(applied.saved());
  const OwnedBuffer scratch = on.allocate(applied.scratch());
  applied.forward(on, {in, out, saved, scratch});
  std::vector<Buffer> below(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (operation->inputs()[i].gradient == InputGradient::computed && (wanted == all_gradients || wanted == i))
      below[i] = written.room(shapes[i]);
  }
  if (applied.outputs()[0].dtype == DType::f32) {
    const OwnedBuffer above = given(on, applied.outputs()[0], 0, 9);
    applied.backward(on, {in, out, saved, {above}, below, scratch});
  }
  return written.all();
}

class Rounds : public testing::Test {
 protected:
  TestDevice tested_, plain_{Instructions::portable};

  void expect_same(const std::string& spec, const TensorShapes& shapes, std::size_t wanted = all_gradients) {
    const std::vector<Floats> got = written_by(tested_, spec, shapes, wanted),
                              expected = written_by(plain_, spec, shapes, wanted);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(bits_of(got[i]), bits_of(expected[i])) << spec << " on " << shapes[0].text() << ", tensor " << i;
  }
  /// Up to the rounding of exponentials and of matrix products.
  void expect_near(const std::string& spec, const TensorShapes& shapes) {
    const std::vector<Floats> got = written_by(tested_, spec, shapes, all_gradients),
                              expected = written_by(plain_, spec, shapes, all_gradients);
    for (std::size_t i = 0; i < got.size(); ++i) {
      float largest = 1;
      for (const float value : expected[i]) largest = std::max(largest, std::abs(value));
      for (std::size_t j = 0; j < got[i].size(); ++j)
        ASSERT_NEAR(got[i][j], expected[i][j], 2e-6F * largest)
            << spec << " on " << shapes[0].text() << ", tensor " << i << ", element " << j;
    }
  }
  void expect_same_sum(DType dtype, std::int64_t terms, std::int64_t count, std::int64_t offset) {
    const auto sum = [&](TestDevice& on) {
      std::vector<OwnedBuffer> held;
      std::vector<Buffer> x;
      Floats weights;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(terms, 11); ++i) {
        held.push_back(on.allocate(Shape::of(count + offset, dtype)));
        on.convert(on.hold(random_vector(count + offset, static_cast<std::uint64_t>(i))), held.back());
      }
      for (std::int64_t i = 0; i < terms; ++i) {
        x.push_back(held[static_cast<std::size_t>(i) % held.size()].view().slice(offset, count));
        weights.push_back(0.3F * static_cast<float>(i % 13) - 1);
      }
      const OwnedBuffer y = on.allocate(Shape::of(count + offset, dtype)),
                        wide = on.hold(Floats(static_cast<std::size_t>(count)));
      on.weighted_sum(x, weights, y.view().slice(offset, count));
      on.convert(y.view().slice(offset, count), wide);
      return bits_of(on.values(wide));
    };
    ASSERT_EQ(sum(tested_), sum(plain_)) << terms << " terms of " << count << " at " << offset;
  }
  void expect_alike_by_rows(std::int64_t rows, std::int64_t width) {
    const TensorShape matrix{{rows, width}}, column{{width}};
    expect_same("bias", {matrix, column});
    for (const std::size_t wanted : {all_gradients, std::size_t{1}, std::size_t{2}})
      expect_same("layer_norm", {matrix, column, column}, wanted);
    for (const DType dtype : {DType::i32, DType::i64}) {
      expect_same("embedding", {{{5, width}}, {{rows}, dtype}});
      expect_same("count_correct", {matrix, {{rows}, dtype}});
      expect_near("cross_entropy", {matrix, {{rows}, dtype}});
    }
  }
};

TEST_F(Rounds, OfRows) {
  for (const std::int64_t rows : rounds) expect_alike_by_rows(rows, 3);
  for (const std::int64_t rows : {47, 48, 49, 96, 97}) expect_alike_by_rows(rows, 33);  // six blocks of eight warps
}

TEST_F(Rounds, OfColumns) {
  for (const std::int64_t width : widths) {
    expect_alike_by_rows(5, width);
    for (const char* const spec : {"bias", "layer_norm"}) {
      TensorShapes empty{{{0, width}}, {{width}}};
      if (std::string(spec) == "layer_norm") empty.push_back({{width}});
      expect_same(spec, empty);
    }
    expect_same("layer_norm", {{{0, width}}, {{width}}, {{width}}}, 2);
  }
}

TEST_F(Rounds, OfChannelsSamplesAndPlaces) {
  const auto expect_alike = [&](std::int64_t samples, std::int64_t channels, std::int64_t places) {
    const TensorShape images{{samples, channels, places}}, one{{channels}};
    expect_same("channel_bias", {images, one});
    expect_same("batch_norm", {images, one, one});
    expect_same("frozen_batch_norm", {images, one, one, one, one});
  };
  for (const std::int64_t channels : {1, 5, 6, 7, 12, 13}) expect_alike(2, channels, 9);
  for (const std::int64_t samples : rounds) expect_alike(samples, 2, 5);
  for (const std::int64_t places : widths) expect_alike(1, 2, places);
  for (const std::int64_t places : {1024, 1025, 2048, 4096, 4097}) expect_alike(1, 1, places);
}

TEST_F(Rounds, OfWindows) {
  for (const std::int64_t size : rounds) {
    if (size > 9) continue;
    for (const std::int64_t stride : {std::int64_t{1}, std::int64_t{2}, size, size + 1}) {
      const std::string spec = "max_pool:size=" + std::to_string(size) + ",stride=" + std::to_string(stride);
      for (const std::int64_t more : {0, 1, 4, 9}) expect_same(spec, {{{1, 2, size + more, size + 2 * more}}});
    }
  }
  expect_same("max_pool:size=2", {{{2, 4, 40, 40}}});
}

TEST_F(Rounds, OfFilters) {
  for (const std::int64_t size : rounds) {
    if (size > 9) continue;
    for (const std::int64_t stride : {1, 2, 3}) {
      const std::string spec = "conv2d:stride=" + std::to_string(stride) + ",padding=" + std::to_string(size % 3);
      expect_near(spec, {{{1, 2, 11, 12}}, {{3, 2, 1 + size % 4, size}}});
      expect_near(spec, {{{1, 1, 12, 11}}, {{2, 1, size, 2}}});
    }
  }
  expect_near("conv2d", {{{1, 2, 40, 40}}, {{2, 2, 3, 3}}});
}

TEST_F(Rounds, OfTokensAndHeads) {
  const auto expect_alike = [&](std::int64_t tokens, std::int64_t size) {
    expect_near("causal_attention:heads=2", {{{1, tokens, 6 * size}}});
  };
  for (const std::int64_t tokens : rounds) expect_alike(tokens, 3);
  for (const std::int64_t size : rounds) expect_alike(5, size);
  for (const std::int64_t many : {31, 32, 33, 64, 65, 96, 97, 128, 129, 160}) {
    expect_alike(many, 2);
    expect_alike(2, many);
  }
}

// In groups of 16 bytes and one by one; more terms than one launch takes; what six blocks do at once, and several
// rounds of it.
TEST_F(Rounds, OfTermsAndGroups) {
  for (const std::int64_t offset : {0, 1}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      for (const std::int64_t terms : rounds) {
        for (const std::int64_t before : {0, 256}) expect_same_sum(dtype, before + terms, 21, offset);
      }
      for (const std::int64_t count : {1536, 1537, 4 * 1536, 4 * 1536 + 36, 8 * 1536, 8 * 1536 + 44})
        for (const std::int64_t terms : {2, 258}) expect_same_sum(dtype, terms, count / (terms > 2 ? 2 : 1), offset);
    }
  }
}

// So many tensors of more than one tile each, of one launch.
TEST_F(Rounds, OfTensors) {
  const auto stepped = [](TestDevice& on, std::int64_t tensors) {
    std::vector<OwnedBuffer> held;
    std::vector<SgdTensor> plain, with_momentum;
    std::vector<AdamTensor> adam;
    for (std::int64_t i = 0; i < tensors; ++i) {
      const std::int64_t count = i % 2 == 0 ? 4097 : 70;
      const auto state = [&](std::uint64_t seed) {
        Floats values = random_vector(count, seed);
        if (seed % 8 == 7)
          for (float& value : values) value *= value;
        held.push_back(on.hold(values));
        return held.back().view();
      };
      const auto seed = static_cast<std::uint64_t>(8 * i);
      const Buffer gradients = state(seed);
      plain.push_back({state(seed + 1), gradients, {}, true});
      with_momentum.push_back({state(seed + 2), gradients, state(seed + 3), true});
      adam.push_back({state(seed + 4), gradients, state(seed + 5), state(seed + 7), true});
    }
    on.sgd(plain, {.learning_rate = 0.1F});
    on.sgd(with_momentum, {.learning_rate = 0.1F, .momentum = 0.9F});
    on.adam(adam, {.learning_rate = 0.01F, .step = 3});
    std::vector<std::vector<std::uint32_t>> all;
    for (const OwnedBuffer& buffer : held) all.push_back(bits_of(on.values(buffer)));
    return all;
  };
  for (const std::int64_t tensors : {1, 2, 3, 4, 5, 8})
    EXPECT_EQ(stepped(tested_, tensors), stepped(plain_, tensors)) << tensors;
}

TEST_F(Rounds, OfLinesOfMatrices) {
  const auto changed = [](TestDevice& on, Lines by, std::int64_t rows, std::int64_t columns) {
    const std::int64_t lines = by == Lines::rows ? rows : columns;
    const OwnedBuffer matrix = on.hold(random_vector(rows * columns, 1)), norms = on.hold(random_vector(lines, 2));
    on.multiply_lines(by, norms, matrix);
    on.norms(by, matrix, norms);
    on.divide_lines(by, norms, matrix);
    return bits_of(on.values(matrix));
  };
  for (const Lines by : {Lines::rows, Lines::columns}) {
    for (const std::int64_t rows : {1, 47, 48, 49, 96, 97}) {
      for (const std::int64_t columns : {1, 31, 32, 33, 97, 128, 129, 225, 256, 257})
        ASSERT_EQ(changed(tested_, by, rows, columns), changed(plain_, by, rows, columns)) << rows << " x " << columns;
    }
  }
}

// A block of threads goes through the rows, of which one column more depends on the others.
TEST_F(Rounds, OfRowsOfTallMatrices) {
  for (const std::int64_t rows : {3, 255, 256, 257, 512, 769, 1000, 1024, 1025, 2048, 32769}) {
    const auto orthonormal = [rows](TestDevice& on) {
      Floats values = random_vector(3 * rows, 7);
      for (std::size_t row = 0; row < values.size(); row += 3) values[row + 1] = -2 * values[row];
      const OwnedBuffer matrix = on.hold(values);
      on.orthonormalise(std::vector<TallMatrix>{{matrix, 3, 3}});
      return bits_of(on.values(matrix));
    };
    EXPECT_EQ(orthonormal(tested_), orthonormal(plain_)) << rows;
  }
}

// Each number of rounds of most threads, of elements of each width by 16 bytes.
TEST_F(Rounds, OfFills) {
  const auto filled = [](TestDevice& on, DType dtype, std::int64_t count) {
    const OwnedBuffer x = on.allocate(Shape::of(count, dtype));
    on.fill(x, 0);
    on.fill(x, 77);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(x.view().bytes()));
    on.download(x, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  };
  for (const auto& [dtype, bytes] : {std::pair(DType::u8, 1), {DType::f16, 2}, {DType::i32, 4}, {DType::i64, 8}}) {
    for (const std::int64_t groups : {200, 300, 600, 800, 1300, 1800}) {
      const std::int64_t count = 16 / bytes * groups;
      EXPECT_EQ(filled(tested_, dtype, count), filled(plain_, dtype, count)) << count << " of " << bytes << " bytes";
    }
  }
}

TEST_F(Rounds, OfNormalNumbers) {
  for (const std::int64_t count : {4 * 1536 - 1, 4 * 1536, 4 * 1536 + 1, 4 * 1536 + 8, 8 * 1536, 8 * 1536 + 4}) {
    const auto drawn = [count](TestDevice& on) {
      const OwnedBuffer x = on.allocate(Shape::of(count, DType::f32));
      on.fill_normal(x, {.seed = 3});
      return on.values(x);
    };
    EXPECT_EQ(drawn(tested_), drawn(plain_)) << count;
  }
}

}  // namespace
}  // namespace trigram::rounds_test
