// Frames against the rules of one element, written out one element after the other: whatever loops, vectors or
// shortcuts a device uses, the bits are these.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "kernels/codecs/minmax_uint8.hpp"
#include "kernels/codecs/one_bit.hpp"
#include "kernels/codecs/qsgd.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::codec_rules_test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

constexpr std::int64_t counts[] = {1, 7, 8, 9, 31, 33, 95, 97, 513, 1535, 1537, 4095, 4097, 9001};
constexpr std::int64_t offsets[] = {0, 1};
const Key key{.seed = 77, .step = 3, .rank = 1, .bucket = 2};

/// Numbers of any exponent, both zeros, equal magnitudes of either sign; NaN and infinities where `all` is true.
Floats any_numbers(std::int64_t count, bool all) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0F,      -0.0F,    1e-45F,    -1e-45F,       1e-39F,         -1e-39F,       0.5F,
                           -0.5F,     0.25F,    -0.25F,    0x1p-126F,     1e30F,          -1e30F,        65520.0F,
                           -65520.0F, infinity, -infinity, std::nanf(""), std::nanf("9"), -std::nanf("")};
  const std::size_t taken = std::size(special) - (all ? 0 : 5);
  Floats x = random_vector(count, 31);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 3 == 1) x[i] = special[i / 3 % taken];
    if (i % 5 == 2) x[i] = std::ldexp(x[i], static_cast<int>(i % 90) - 60);
  }
  return x;
}

class CodecRules : public testing::Test {
 protected:
  TestDevice device_;

  /// The frame of a vector that lies `offset` elements into its memory, its frame as many bytes.
  Bytes encode(const std::string& spec, const Floats& x, std::int64_t offset = 0) {
    const std::unique_ptr<Codec> codec = device_.make_codec(spec);
    const auto count = static_cast<std::int64_t>(x.size());
    const OwnedBuffer room = device_.allocate(Shape::of(count + offset, DType::f32));
    const Buffer in = room.view().slice(offset, count);
    device_.upload(std::as_bytes(std::span(x)), in);
    const std::int64_t bytes = codec->encoded_bytes(count);
    const OwnedBuffer frame = device_.allocate(Shape::of(bytes + offset, DType::u8));
    const Buffer out = frame.view().slice(offset, bytes);
    codec->encode(device_, in, out, key);
    return device_.values<std::uint8_t>(out);
  }

  template <class Expected>
  void expect_frames(const std::string& spec, const Expected& expected) {
    for (const std::int64_t count : counts) {
      for (const bool all : {false, true}) {
        const Floats x = any_numbers(count, all);
        for (const std::int64_t offset : offsets) {
          ASSERT_EQ(encode(spec, x, offset), expected(x)) << spec << ", " << count << " elements at " << offset;
        }
      }
    }
  }
};

template <class T>
void append(Bytes& frame, T value) {
  const std::size_t end = frame.size();
  frame.resize(end + sizeof value);
  std::memcpy(frame.data() + end, &value, sizeof value);
}

/// The fixed tree of scalar.hpp, recursively. `count` is at least 1.
double tree(const double* terms, std::size_t count) {
  if (count > static_cast<std::size_t>(scalar::tree_block)) {
    std::size_t left = static_cast<std::size_t>(scalar::tree_block);
    while (2 * left < count) left *= 2;
    const double sum = tree(terms, left);
    return sum + tree(terms + left, count - left);
  }
  double lanes[scalar::tree_lanes] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i % scalar::tree_lanes] += terms[i];
  for (int half = scalar::tree_lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

Bytes one_bit(const Floats& x) {
  std::vector<double> sizes;
  for (const float value : x) sizes.push_back(std::abs(static_cast<double>(value)));
  Bytes frame;
  append(frame, one_bit_scale(tree(sizes.data(), sizes.size()), static_cast<std::int64_t>(x.size())));
  frame.resize(4 + (x.size() + 7) / 8);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] < 0) frame[4 + i / 8] = static_cast<std::uint8_t>(frame[4 + i / 8] | 1U << i % 8);
  }
  return frame;
}

TEST_F(CodecRules, OneBit) { expect_frames("one_bit", one_bit); }

Bytes minmax_uint8(const Floats& x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const bool finite = std::all_of(x.begin(), x.end(), [](float value) { return std::isfinite(value); });
  const ValueRange range = minmax_header(*low, *high, finite);
  const scalar::MinMaxGrid grid = scalar::minmax_grid(range.smallest, range.largest);
  Bytes frame;
  append(frame, range.smallest);
  append(frame, range.largest);
  frame.resize(static_cast<std::size_t>(32 + MinMaxUint8Model::payload_bytes(static_cast<std::int64_t>(x.size()))));
  for (std::size_t i = 0; i < x.size() && !grid.constant; ++i) frame[32 + i] = scalar::minmax_level(x[i], grid);
  return frame;
}

TEST_F(CodecRules, MinMaxUint8) { expect_frames("minmax_uint8", minmax_uint8); }

/// Buckets of 512, codes of 8 bits.
Bytes qsgd(const Floats& x, float (*norm_of)(const float*, std::size_t)) {
  const Philox philox(key);
  Bytes frame, codes;
  for (std::size_t begin = 0; begin < x.size(); begin += 512) {
    const std::size_t end = std::min(x.size(), begin + 512);
    const float norm = norm_of(&x[begin], end - begin);
    append(frame, norm);
    for (std::size_t i = begin; i < end; ++i) {
      codes.push_back(static_cast<std::uint8_t>(qsgd_code(x[i], norm, 127.0F, philox.uniform(i))));
    }
  }
  frame.insert(frame.end(), codes.begin(), codes.end());
  return frame;
}

TEST_F(CodecRules, QsgdByTheLargestMagnitude) {
  expect_frames("qsgd", [](const Floats& x) {
    return qsgd(x, [](const float* values, std::size_t count) {
      float largest = 0;
      for (std::size_t i = 0; i < count; ++i)
        largest = std::isfinite(values[i]) && largest >= 0 ? std::max(largest, std::abs(values[i])) : -1;
      return largest >= 0 ? largest : scalar::nan();
    });
  });
}

TEST_F(CodecRules, QsgdByTheTwoNorm) {
  expect_frames("qsgd:norm=2", [](const Floats& x) {
    return qsgd(x, [](const float* values, std::size_t count) {
      std::vector<double> squares;
      for (std::size_t i = 0; i < count; ++i)
        squares.push_back(static_cast<double>(values[i]) * static_cast<double>(values[i]));
      return qsgd_two_norm(tree(squares.data(), squares.size()));
    });
  });
}

Bytes top_k(const Floats& x, std::size_t k) {
  std::vector<std::int32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int32_t place) {
    const float given = x[static_cast<std::size_t>(place)];
    return std::isnan(given) ? scalar::nan() : given;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return scalar::magnitude(value(a)) > scalar::magnitude(value(b));
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  Bytes frame;
  for (const std::int32_t place : order) append(frame, place);
  for (const std::int32_t place : order) append(frame, value(place));
  return frame;
}

TEST_F(CodecRules, TopK) {
  expect_frames("top_k:fraction=0.01", [](const Floats& x) { return top_k(x, (x.size() + 99) / 100); });
  expect_frames("top_k:fraction=0.5", [](const Floats& x) { return top_k(x, (x.size() + 1) / 2); });
}

/// The frames of chunks, values of all of them before places.
Bytes chunk_top_k(const Floats& x, std::size_t chunk, std::size_t k) {
  Bytes values, places;
  for (std::size_t begin = 0; begin < x.size(); begin += chunk) {
    const Floats own(x.begin() + static_cast<std::ptrdiff_t>(begin),
                     x.begin() + static_cast<std::ptrdiff_t>(std::min(begin + chunk, x.size())));
    const std::size_t kept = std::min(k, own.size());
    const Bytes frame = top_k(own, kept);  // four bytes a place, and four a value
    values.insert(values.end(), frame.begin() + static_cast<std::ptrdiff_t>(4 * kept), frame.end());
    for (std::size_t j = 0; j < kept; ++j) {
      places.push_back(frame[4 * j]);
      if (chunk > 256) places.push_back(frame[4 * j + 1]);
    }
  }
  values.insert(values.end(), places.begin(), places.end());
  return values;
}

TEST_F(CodecRules, ChunkTopK) {
  expect_frames("chunk_top_k", [](const Floats& x) { return chunk_top_k(x, 64, 8); });
  expect_frames("chunk_top_k:chunk=256,k=256", [](const Floats& x) { return chunk_top_k(x, 256, 256); });
  expect_frames("chunk_top_k:chunk=700,k=9", [](const Floats& x) { return chunk_top_k(x, 700, 9); });
}

TEST_F(CodecRules, MarksSayWhatWasKept) {
  const Floats x = {3, -5, 0, 1, 0, 0, 2};
  const auto codec = device_.make_codec("chunk_top_k:chunk=4,k=2,marks=on");
  const auto frame = device_.encode(*codec, x);
  EXPECT_EQ(frame, device_.encode(*device_.make_codec("chunk_top_k:chunk=4,k=2"), x));
  EXPECT_EQ(device_.decode(*codec, frame, x.size()), (Floats{1, 1, 0, 0, 1, 0, 1}));
  const OwnedBuffer added = device_.hold({1, 0, 0, 0, 1, 5, 5});
  codec->decode_add(device_, device_.hold(frame, DType::u8), 1.0F, added, {});
  EXPECT_EQ(device_.values(added), (Floats{2, 1, 0, 0, 2, 5, 6}));
}

TEST_F(CodecRules, FramesHaveOneNaN) {
  const float payload = std::nanf("9"), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(encode("identity", {-payload}), (Bytes{0xff, 0xff, 0xff, 0x7f}));
  EXPECT_EQ(encode("fp16", {-payload, -infinity}), (Bytes{0xff, 0x7f, 0x00, 0xfc}));
  EXPECT_EQ(encode("bf16", {payload, -infinity}), (Bytes{0xff, 0x7f, 0x80, 0xff}));
  EXPECT_EQ(encode("qsgd", {-1, -payload, -0.0F}), (Bytes{0xff, 0xff, 0xff, 0x7f, 0, 0, 0}));
  EXPECT_EQ(encode("qsgd", {-1, -infinity, -0.0F}), (Bytes{0xff, 0xff, 0xff, 0x7f, 0, 0, 0}));
  EXPECT_EQ(encode("natural", {-payload, -infinity, -1}), (Bytes{0xff, 0xff, 0x7f, 0x04}));
  EXPECT_EQ(encode("one_bit", {-1, -payload}), (Bytes{0xff, 0xff, 0xff, 0x7f, 0x01}));
  EXPECT_EQ(encode("two_means", {-1, -payload}), (Bytes{0xff, 0xff, 0xff, 0x7f, 0, 0, 0x80, 0xbf, 0x01}));
  EXPECT_EQ(encode("top_k:k=1", {std::nanf(""), -payload}), (Bytes{0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f}));
}

/// Vectors that are long enough for a device to guess from some elements how large the k largest are.
struct LongVector {
  const char* name;
  Floats values;
};

constexpr std::int64_t long_count = 131072 + 77;

std::vector<LongVector> long_vectors() {
  const Floats random = random_vector(long_count, 41);
  std::vector<LongVector> all = {{"random", random},
                                 {"of any numbers", any_numbers(long_count, true)},
                                 {"of equal magnitudes", Floats(random.size(), -0.5F)},
                                 {"of zeros but for a few", Floats(random.size(), 0.0F)},
                                 {"whose every 16th element is large", random},
                                 {"whose every 16th element is small", random}};
  for (std::size_t i = 0; i < random.size(); ++i) {
    if (i % 1000 == 999) all[3].values[i] = random[i];
    if (i % 16 == 0) all[4].values[i] *= 1e6F;
    if (i % 16 == 0) all[5].values[i] *= 1e-6F;
  }
  return all;
}

TEST_F(CodecRules, TopKOfManyElements) {
  for (const LongVector& vector : long_vectors()) {
    for (const std::size_t k : {1, 50, 1312, 9000, 60000}) {
      ASSERT_EQ(encode("top_k:k=" + std::to_string(k), vector.values, 1), top_k(vector.values, k))
          << k << " of a vector " << vector.name;
    }
  }
}

}  // namespace
}  // namespace trigram::codec_rules_test
