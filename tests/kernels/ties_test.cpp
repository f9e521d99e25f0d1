// What kernels decide where two values are equal, opposite, or at the end of a format's range, at every place of a row
// or a vector: a comparison that is wrong in one step of an unrolled loop shows there alone.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/step/operation.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::ties_test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
constexpr float infinity = std::numeric_limits<float>::infinity();
/// What a block does at once, and of what is left behind it four steps of most threads: in wide accesses of f32 and of
/// halves, and one by one.
constexpr std::int64_t elements = 2 * 8192 - 163;

class Ties : public ::testing::Test {
 protected:
  TestDevice tested_, plain_{Instructions::portable};

  template <class Label>
  std::int64_t correct(const Floats& logits, const std::vector<Label>& labels) {
    constexpr DType dtype = sizeof(Label) == 4 ? DType::i32 : DType::i64;
    const auto rows = static_cast<std::int64_t>(labels.size()), all = static_cast<std::int64_t>(logits.size());
    const OwnedBuffer count = tested_.allocate(Shape::of(1, DType::i64));
    AppliedOperation(tested_, "count_correct", {{{rows, all / rows}}, {{rows}, dtype}})
        .forward(tested_, {.inputs = {tested_.hold(logits), tested_.hold(labels, dtype)}, .outputs = {count}});
    return tested_.values<std::int64_t>(count)[0];
  }

  /// The frame that a server makes of these vectors' frames.
  Bytes served(TestDevice& on, const std::string& spec, const std::vector<Floats>& vectors) {
    const auto codec = on.make_codec(spec), reference = plain_.make_codec(spec);
    std::vector<OwnedBuffer> frames;
    std::vector<KeyedFrame> keyed;
    for (const Floats& vector : vectors) {
      frames.push_back(on.hold(plain_.encode(*reference, vector), DType::u8));
      keyed.push_back({frames.back(), {}});
    }
    const OwnedBuffer sum = on.hold(vectors[0]), out = on.hold(on.encode(*codec, vectors[0]), DType::u8);
    codec->decode_reduce_encode(on, keyed, 1.0F / static_cast<float>(vectors.size()), sum, out, {});
    return on.values<std::uint8_t>(out);
  }

  void expect_same_server(const std::string& spec, const std::vector<Floats>& vectors) {
    EXPECT_EQ(served(tested_, spec, vectors), served(plain_, spec, vectors)) << spec;
  }
};

// Four and eleven steps of a warp: a loop that is unrolled by four takes each of its steps, and those that are left.
TEST_F(Ties, ALabelIsRightWhereverItsLogitIsTheFirstLargest) {
  for (const std::size_t classes : {128, 352}) {
    Floats alone(classes * classes), equal(classes * classes, 1.0F), beaten(classes * classes);
    std::vector<std::int32_t> labels, others;
    for (std::size_t label = 0; label < classes; ++label) {
      labels.push_back(static_cast<std::int32_t>(label));
      others.push_back(static_cast<std::int32_t>((label + 1) % classes));
      alone[label * classes + label] = 1;
      beaten[label * classes + label] = 2;
      beaten[label * classes + (label + 1) % classes] = 1;
    }
    const std::vector<std::int64_t> wide(labels.begin(), labels.end()), wide_others(others.begin(), others.end());
    EXPECT_EQ(correct(alone, labels), classes);
    EXPECT_EQ(correct(alone, wide), classes);
    EXPECT_EQ(correct(equal, labels), 1) << "the first of equal ones alone";
    EXPECT_EQ(correct(equal, wide), 1) << "the first of equal ones alone";
    EXPECT_EQ(correct(beaten, others), 0) << "one that is larger, wherever it stands";
    EXPECT_EQ(correct(beaten, wide_others), 0) << "one that is larger, wherever it stands";
  }
}

// The largest is subtracted before exponentials are taken: where it were another, they would overflow.
TEST_F(Ties, ALargeLogitOverflowsNoExponentialWhereverItStands) {
  for (const std::int64_t classes : {128, 352}) {
    Floats logits(static_cast<std::size_t>(classes * classes)), slopes = logits;
    for (std::size_t i = 0; i < logits.size(); i += static_cast<std::size_t>(classes + 1)) logits[i] = 1000;
    std::vector<std::int32_t> labels(static_cast<std::size_t>(classes));
    for (std::size_t label = 0; label < labels.size(); ++label) labels[label] = static_cast<std::int32_t>(label);
    const OwnedBuffer loss = tested_.hold({7.0F}), saved = tested_.hold(logits);
    AppliedOperation(tested_, "cross_entropy", {{{classes, classes}}, {{classes}, DType::i32}})
        .forward(tested_, {.inputs = {saved, tested_.hold(labels, DType::i32)}, .outputs = {loss}, .saved = {saved}});
    EXPECT_EQ(tested_.values(loss)[0], 0.0F) << classes;
    EXPECT_EQ(tested_.values(saved), slopes) << classes;
  }
}

TEST_F(Ties, TheSmallerAndTheLargerOfTwoZerosIsTheOneThatWasThere) {
  const auto expect_kept = [&]<class Bits>(DType dtype, Bits x, Bits y) {
    const std::vector<Bits> there(static_cast<std::size_t>(elements), y);
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
      for (const std::int64_t offset : {0, 1}) {
        const OwnedBuffer from = tested_.hold(std::vector<Bits>(there.size() + 1, x), dtype),
                          to = tested_.hold(std::vector<Bits>(there.size() + 1, y), dtype);
        const Buffer kept = to.view().slice(offset, elements);
        tested_.reduce(op, from.view().slice(offset, elements), kept);
        EXPECT_EQ(tested_.values<Bits>(kept), there) << offset;
      }
    }
  };
  for (const auto& [x, y] : {std::pair<std::uint32_t, std::uint32_t>(0, 0x80000000U), {0x80000000U, 0}}) {
    expect_kept(DType::f32, x, y);
    for (const DType dtype : {DType::f16, DType::bf16})
      expect_kept(dtype, static_cast<std::uint16_t>(x >> 16U), static_cast<std::uint16_t>(y >> 16U));
  }
}

// An infinity of 16 bits would be 65536 by the rule of numbers, of which a half and a difference are finite.
TEST_F(Ties, InfinitiesOfHalvesStayInfinite) {
  constexpr std::uint16_t infinite_half = 0x7c00, lowest_half = 0xfbff;
  const Floats infinite(elements, infinity);
  for (const std::int64_t offset : {0, 1}) {
    const auto part = [&](const OwnedBuffer& whole) { return whole.view().slice(offset, elements); };
    const auto halves = [&](std::uint16_t all) { return tested_.hold(std::vector(elements + 1, all), DType::f16); };
    const OwnedBuffer infinities = halves(infinite_half), lowest = halves(lowest_half), scaled = halves(infinite_half);
    const OwnedBuffer first = halves(infinite_half), second = halves(lowest_half);
    tested_.reduce(ReduceOp::mean, part(lowest), part(first));
    tested_.reduce(ReduceOp::mean, part(infinities), part(second));
    tested_.scale(part(scaled), 0.5F);
    const OwnedBuffer wide = tested_.allocate(Shape::of(elements + 1, DType::f32));
    for (const OwnedBuffer* const all : {&first, &second, &scaled}) {
      tested_.convert(part(*all), part(wide));
      EXPECT_EQ(tested_.values(part(wide)), infinite) << offset;
    }
  }
}

TEST_F(Ties, TheLargestHalfIsNoInfinity) {
  constexpr std::uint16_t largest = 0x7bff, half_of_it = 0x77ff;
  const OwnedBuffer half = tested_.hold({0.5F}), two = tested_.hold({2.0F});
  for (const std::int64_t offset : {0, 1}) {
    const OwnedBuffer product = tested_.hold(std::vector(elements + 1, largest), DType::f16),
                      quotient = tested_.hold(std::vector(elements + 1, largest), DType::f16),
                      scaled = tested_.hold(std::vector(elements + 1, largest), DType::f16);
    const auto part = [&](const OwnedBuffer& whole) { return whole.view().slice(offset, elements); };
    tested_.multiply(half, part(product));
    tested_.divide(two, part(quotient));
    tested_.scale(part(scaled), 0.5F);
    for (const OwnedBuffer* const all : {&product, &quotient, &scaled})
      EXPECT_EQ(tested_.values<std::uint16_t>(part(*all)), std::vector(elements, half_of_it)) << offset;
  }
}

TEST_F(Ties, FramesOfHalvesKeepInfinitiesAndTheLargest) {
  const auto codec = tested_.make_codec("fp16");
  const OwnedBuffer frame = tested_.allocate(codec->encoded_shape(Shape::of(elements, DType::f32)));
  for (const float value : {infinity, -infinity, 65504.0F}) {
    const Floats all(elements, value);
    for (const std::int64_t offset : {0, 1}) {
      const OwnedBuffer out = tested_.hold(Floats(elements + 1, 1.0F));
      const Buffer part = out.view().slice(offset, elements);
      codec->encode(tested_, tested_.hold(all), frame, {});
      codec->decode_add(tested_, frame, 0.5F, part, {});
      EXPECT_EQ(tested_.values(part), Floats(elements, 1.0F + 0.5F * value)) << offset;
      tested_.fill(part, 0);
      codec->decode(tested_, frame, part, {});
      EXPECT_EQ(tested_.values(part), all) << offset;
    }
    expect_same_server("fp16", {all, all, Floats(elements, 1.0F)});
  }
}

// Each of the terms that a loop over them takes at once, of one launch and of several.
TEST_F(Ties, ATermOfHalvesThatIsInfiniteOrTheLargestMakesTheSum) {
  constexpr std::int64_t some = 8 * 3 + 5;
  for (const std::size_t terms : {7, 300}) {
    for (std::size_t which = 0; which < 7; ++which) {
      for (const std::int64_t offset : {0, 1}) {
        const auto part = [&](const OwnedBuffer& whole) { return whole.view().slice(offset, some); };
        const auto halves = [&](std::uint16_t all) { return tested_.hold(std::vector(some + 1, all), DType::f16); };
        const OwnedBuffer infinities = halves(0x7c00), largest = halves(0x7bff), ones = halves(0x3c00), sum = halves(0);
        std::vector<Buffer> x(terms, part(ones));
        x[which] = part(infinities);
        tested_.weighted_sum(x, std::vector(terms, 0.25F), part(sum));
        EXPECT_EQ(tested_.values<std::uint16_t>(part(sum)), std::vector<std::uint16_t>(some, 0x7c00)) << which;
        x[which] = part(largest);
        Floats weights(terms, 0.0F);
        weights[which] = 0.25F;
        tested_.weighted_sum(x, weights, part(sum));
        EXPECT_EQ(tested_.values<std::uint16_t>(part(sum)), std::vector<std::uint16_t>(some, 0x73ff)) << which;
      }
    }
  }
}

TEST_F(Ties, AServersSumOfZeroHasTheSignOfThePlainHost) {
  for (const std::int64_t count : {33, 1030, 2047, 4097}) {
    Floats vector = random_vector(count, 5), opposite = vector;
    for (float& value : opposite) value = -value;
    for (const char* const spec : {"one_bit", "sign", "two_means"}) expect_same_server(spec, {vector, opposite});
  }
}

// More frames than one_bit's table of sums is made of; in a batch that is whole, and in one that lacks an element.
TEST_F(Ties, SumsOfZeroOfManyFramesOfOneBitAreNotNegative) {
  for (const std::int64_t count : {1024, 1023}) {
    std::vector<Floats> vectors;
    for (int pair = 0; pair < 5; ++pair)
      for (const float value : {1.0F, -1.0F}) vectors.emplace_back(count, value);
    EXPECT_EQ(served(tested_, "one_bit", vectors), Bytes(static_cast<std::size_t>(4 + (count + 7) / 8), 0)) << count;
  }
}

// By a table of sums, and by more frames than it is made of; at each bit of a byte and each row of a warp's words.
TEST_F(Ties, AServerOfOneBitHasThePlainHostsBitsWhereverItEnds) {
  for (const std::uint64_t frames : {2, 9}) {
    for (std::int64_t count = 31; count < 1100; count += 31) {
      std::vector<Floats> vectors;
      for (std::uint64_t seed = 0; seed < frames; ++seed) vectors.push_back(random_vector(count, seed));
      expect_same_server("one_bit", vectors);
    }
  }
}

// A product that were not rounded before its negative is added would leave what it is rounded by. Each of the terms
// that a loop takes at once, of one launch and of several.
TEST_F(Ties, ATermLessItselfIsZero) {
  constexpr std::int64_t some = 8 * 3 + 5;
  constexpr float value = 1.0F + 0x1p-7F, weight = 1024.0F / 3, product = weight * value;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::size_t terms : {7, 300}) {
      for (std::size_t which = 1; which < terms; which += which < 7 ? 1 : 73) {
        for (const std::int64_t offset : {0, 1}) {
          const auto all_of = [&](float one) {
            OwnedBuffer held = tested_.allocate(Shape::of(some + 1, dtype));
            tested_.fill(held, one);
            return held;
          };
          const OwnedBuffer ones = all_of(1), values = all_of(value), sum = all_of(7),
                            wide = tested_.hold(Floats(some));
          const auto part = [&](const OwnedBuffer& whole) { return whole.view().slice(offset, some); };
          std::vector<Buffer> x(terms, part(ones));
          Floats weights(terms, 0.0F);
          x[which] = part(values);
          weights[0] = -product;
          weights[which] = weight;
          tested_.weighted_sum(x, weights, part(sum));
          tested_.convert(part(sum), wide);
          EXPECT_EQ(tested_.values(wide), Floats(some)) << which << " of " << terms << " at " << offset;
        }
      }
    }
  }
}

// The same of sums and of what is added to a vector, at every place of it: what would be left is large enough for f16.
TEST_F(Ties, AnElementLessItsProductIsZero) {
  constexpr float value = 1.0F + 0x1p-7F, product = 1280, factor = product / value;
  const OwnedBuffer one = tested_.hold({factor}), wide = tested_.hold(Floats(elements));
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::int64_t offset : {0, 1}) {
      const auto all_of = [&](float element) {
        OwnedBuffer held = tested_.allocate(Shape::of(elements + 1, dtype));
        tested_.fill(held, element);
        return held;
      };
      const auto part = [&](const OwnedBuffer& whole) { return whole.view().slice(offset, elements); };
      const OwnedBuffer values = all_of(value), products = all_of(-product);
      const OwnedBuffer scaled = all_of(-product), first = all_of(-product), second = all_of(value);
      tested_.add_scaled(one, part(values), part(scaled));
      tested_.axpby(factor, part(values), 1, part(first));
      tested_.axpby(1, part(products), factor, part(second));
      for (const OwnedBuffer* const sum : {&scaled, &first, &second}) {
        tested_.convert(part(*sum), wide);
        EXPECT_EQ(tested_.values(wide), Floats(elements)) << offset;
      }
    }
  }
}

// A product that rounds to a tie, although it is more: the tie is even, what it is rounded from is not.
TEST_F(Ties, ModuloRoundsItsProductBeforeItLooksForTheNearest) {
  constexpr float steps_per_unit = 126.0F;
  Floats x;
  Bytes expected;
  for (int k = 0; k < 126; k += 2) {
    const double tie = k + 0.5;
    float value = static_cast<float>(tie / 126.0);
    for (int step = 0; step < 4; ++step, value = std::nextafter(value, infinity)) {
      const float rounded = value * steps_per_unit;
      if (rounded != static_cast<float>(tie) || static_cast<double>(value) * 126.0 <= tie) continue;
      x.push_back(value);
      expected.push_back(static_cast<std::uint8_t>(k));
    }
  }
  ASSERT_GT(x.size(), 8U);
  // Enough of them for whole accesses, and for what is left one by one.
  while (x.size() < 2000) {
    x.push_back(x[x.size() - 8]);
    expected.push_back(expected[expected.size() - 8]);
  }
  EXPECT_EQ(tested_.encode(*tested_.make_codec("modulo"), x), expected);
}

TEST_F(Ties, ALoneInfinityOrNaNIsSeenWhereverItStands) {
  constexpr std::size_t elements_of_a_block = 1030;
  for (std::size_t place = 0; place < elements_of_a_block; place += 11) {
    Floats vector = random_vector(elements_of_a_block, 3);
    for (const float alone : {infinity, std::nanf("")}) {
      vector[place] = alone;
      EXPECT_EQ(tested_.encode(*tested_.make_codec("minmax_uint8"), vector),
                plain_.encode(*plain_.make_codec("minmax_uint8"), vector))
          << alone << " at " << place;
    }
    vector[place] = 3e38F;  // which two frames add up to infinity
    expect_same_server("minmax_uint8", {vector, vector});
  }
}

TEST_F(Ties, LayerNormHasThePlainHostsBits) {
  constexpr std::int64_t rows = 70, width = 77;
  const auto normalised = [&](TestDevice& on) {
    const AppliedOperation norm(on, "layer_norm", {{{rows, width}}, {{width}}, {{width}}});
    const OwnedBuffer x = on.hold(random_vector(rows * width, 1)), gain = on.hold(random_vector(width, 2)),
                      shift = on.hold(random_vector(width, 3)), above = on.hold(random_vector(rows * width, 4)),
                      out = on.hold(Floats(rows * width)), below = on.hold(Floats(rows * width)),
                      gains = on.hold(Floats(width)), shifts = on.hold(Floats(width)), means = on.hold(Floats(rows)),
                      scales = on.hold(Floats(rows));
    norm.forward(on, {{x, gain, shift}, {out}, {means, scales}});
    norm.backward(on, {{x, gain, shift}, {out}, {means, scales}, {above}, {below, gains, shifts}});
    return std::vector{on.values<std::uint32_t>(out), on.values<std::uint32_t>(below), on.values<std::uint32_t>(gains),
                       on.values<std::uint32_t>(shifts)};
  };
  EXPECT_EQ(normalised(tested_), normalised(plain_));
}

TEST_F(Ties, FrozenBatchNormHasThePlainHostsBits) {
  constexpr std::int64_t channels = 5, side = 29, all = 3 * channels * side * side;  // several for each thread
  const auto normalised = [&](TestDevice& on) {
    const TensorShape channel{{channels}};
    const AppliedOperation norm(on, "frozen_batch_norm",
                                {{{3, channels, side, side}}, channel, channel, channel, channel});
    std::vector<OwnedBuffer> held;
    for (std::uint64_t input = 1; input < 5; ++input) held.push_back(on.hold(random_vector(channels, input)));
    const OwnedBuffer x = on.hold(random_vector(all, 5)), out = on.hold(Floats(all));
    norm.forward(on, {.inputs = {x, held[0], held[1], held[2], held[3]}, .outputs = {out}});
    return on.values<std::uint32_t>(out);
  };
  EXPECT_EQ(normalised(tested_), normalised(plain_));
}

}  // namespace
}  // namespace trigram::ties_test
