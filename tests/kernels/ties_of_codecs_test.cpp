// What codecs decide where two numbers are equal: at the end of a grid, where a draw equals a fraction, and in frames
// of strangers, whose elements come in another order or lie just outside, at each step of an unrolled loop.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/random.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::ties_of_codecs_test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

class TiesOfCodecs : public testing::Test {
 protected:
  TestDevice tested_, plain_{Instructions::portable};

  /// Of a vector that lies `offset` elements into its memory.
  Bytes frame_of(const std::string& spec, const Floats& vector, std::int64_t offset, const Key& key = {}) {
    Floats held(static_cast<std::size_t>(offset), 7.0F);
    held.insert(held.end(), vector.begin(), vector.end());
    const OwnedBuffer memory = tested_.hold(held);
    const Buffer slice = memory.view().slice(offset, static_cast<std::int64_t>(vector.size()));
    const auto codec = tested_.make_codec(spec);
    const OwnedBuffer frame = tested_.allocate(codec->encoded_shape(slice.shape()));
    codec->encode(tested_, slice, frame, key);
    return tested_.values<std::uint8_t>(frame);
  }
  void expect_same_decoded(const std::string& spec, const Bytes& frame, std::size_t count) {
    const auto codec = tested_.make_codec(spec), reference = plain_.make_codec(spec);
    EXPECT_EQ(bits_of(tested_.decode(*codec, frame, count)), bits_of(plain_.decode(*reference, frame, count))) << spec;
    const auto added = [&](TestDevice& on, const Codec& by) {
      const OwnedBuffer out = on.hold(random_vector(static_cast<std::int64_t>(count), 3));
      by.decode_add(on, on.hold(frame, DType::u8), 0.5F, out, {});
      return bits_of(on.values(out));
    };
    EXPECT_EQ(added(tested_, *codec), added(plain_, *reference)) << spec;
  }
  /// A device tells what is wrong with a frame at its next wait.
  void expect_refused(const std::string& spec, const Bytes& frame, std::size_t count) {
    const auto codec = tested_.make_codec(spec);
    const OwnedBuffer held = tested_.hold(frame, DType::u8), out = tested_.hold(Floats(count));
    EXPECT_THROW((codec->decode(tested_, held, out, {}), tested_.synchronize()), Error) << spec;
    EXPECT_THROW((codec->decode_add(tested_, held, 0.5F, out, {}), tested_.synchronize()), Error) << spec;
  }
};

/// What a block does at once, and of what is left behind it four rounds of most threads.
constexpr std::int64_t elements = 2 * 8192 - 163;
/// Where a block takes several elements at once, whole and not, and in its further rounds.
constexpr std::size_t places[] = {0, 255, 256, 500, 511, 512, 767, 768, 999};

template <class T>
void exchange(Bytes& frame, std::size_t first, std::size_t one, std::size_t other) {
  std::swap_ranges(frame.begin() + static_cast<std::ptrdiff_t>(first + one * sizeof(T)),
                   frame.begin() + static_cast<std::ptrdiff_t>(first + (one + 1) * sizeof(T)),
                   frame.begin() + static_cast<std::ptrdiff_t>(first + other * sizeof(T)));
}
template <class T>
Bytes with(Bytes frame, std::size_t first, std::size_t place, T value) {
  std::memcpy(frame.data() + first + place * sizeof(T), &value, sizeof value);
  return frame;
}

// 8521761 · 126 is 2^30 as a float, from where on no residue is told. In wide accesses and one by one.
TEST_F(TiesOfCodecs, ModuloTellsNothingFromItsLimitOn) {
  for (const std::int64_t offset : {0, 1}) {
    for (const float beyond : {8521761.0F, -8521761.0F})
      EXPECT_EQ(frame_of("modulo", Floats(elements, beyond), offset), Bytes(elements, 0x80)) << offset;
    const Floats below(elements, 8521760.0F);
    EXPECT_EQ(frame_of("modulo", below, offset), plain_.encode(*plain_.make_codec("modulo"), below)) << offset;
  }
}

// The last residue of either sign is none but itself.
TEST_F(TiesOfCodecs, ModuloTellsItsLastResidues) {
  for (const std::int64_t offset : {0, 1}) {
    EXPECT_EQ(frame_of("modulo", Floats(elements, 127.0F / 126), offset), Bytes(elements, 127)) << offset;
    EXPECT_EQ(frame_of("modulo", Floats(elements, -127.0F / 126), offset), Bytes(elements, 129)) << offset;
  }
}

// A header has eight words, the last of them 0, and levels behind it, the first of which are not 0: one warp writes
// both, in memory with something else in it.
TEST_F(TiesOfCodecs, MinMaxWritesAllOfItsHeaderAndNoMore) {
  const auto codec = tested_.make_codec("minmax_uint8"), reference = plain_.make_codec("minmax_uint8");
  for (const std::size_t count : {4, 36, 64, 100, 128}) {
    Floats vector(count);
    std::fill_n(vector.begin(), 4, 1.0F);
    vector[count - 1] = -1;
    const OwnedBuffer frame =
        tested_.allocate(codec->encoded_shape(Shape::of(static_cast<std::int64_t>(count), DType::f32)));
    tested_.fill(frame, 7);
    codec->encode(tested_, tested_.hold(vector), frame, {});
    EXPECT_EQ(tested_.values<std::uint8_t>(frame), plain_.encode(*reference, vector)) << count;
  }
}

// A fraction that equals its draw does not grow.
TEST_F(TiesOfCodecs, NaturalStaysWhereItsFractionIsWhatWasDrawn) {
  const Key key{.seed = 5, .rank = 2};
  const Philox philox(key);
  Floats vector;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint32_t one = 127U << 23U, fraction = philox.bits(i) >> 9U;
    vector.push_back(std::bit_cast<float>(one | fraction));
  }
  for (const std::int64_t offset : {0, 1}) {
    const Bytes frame = frame_of("natural", vector, offset, key);
    EXPECT_EQ(Bytes(frame.begin(), frame.begin() + elements), Bytes(elements, 127)) << offset;
  }
}

// Whatever element of the frame is the vector's first: where drawn places turn round to its beginning.
TEST_F(TiesOfCodecs, RandomKTurnsRoundWhereverItEnds) {
  for (const std::size_t kept : {1000, 1100}) {
    const std::string spec = "random_k:k=" + std::to_string(kept);
    const auto codec = tested_.make_codec(spec), reference = plain_.make_codec(spec);
    const Floats vector = random_vector(static_cast<std::int64_t>(kept) * 5 / 4, 7);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Bytes frame = plain_.encode(*reference, vector, {.seed = seed});
      ASSERT_EQ(tested_.encode(*codec, vector, {.seed = seed}), frame) << seed;
      ASSERT_EQ(tested_.decode(*codec, frame, vector.size(), {.seed = seed}),
                plain_.decode(*reference, frame, vector.size(), {.seed = seed}))
          << seed;
    }
  }
}

TEST_F(TiesOfCodecs, TopKTakesAFrameInAnyOrderAndNothingOutside) {
  for (const std::size_t k : {1000, 1100}) {
    const std::string spec = "top_k:k=" + std::to_string(k);
    const auto count = static_cast<std::int64_t>(k);  // all are kept, in order
    const Bytes frame = plain_.encode(*plain_.make_codec(spec), random_vector(count, 1));
    for (const std::size_t place : places) {
      Bytes turned = frame;
      exchange<std::int32_t>(turned, 0, 0, place);
      exchange<float>(turned, 4 * k, 0, place);
      expect_same_decoded(spec, turned, k);
      expect_refused(spec, with(frame, 0, place, static_cast<std::int32_t>(k)), k);
      expect_refused(spec, with(frame, 0, place, std::int32_t{-1}), k);
    }
  }
}

TEST_F(TiesOfCodecs, ChunkTopKTakesAFrameInAnyOrderAndNothingOutside) {
  constexpr std::size_t count = 1100;
  for (const std::size_t k : {1000, 1100}) {
    const std::string spec = "chunk_top_k:chunk=1100,k=" + std::to_string(k);
    const Bytes frame = plain_.encode(*plain_.make_codec(spec), Floats(count, 1.0F));  // the first k are kept
    for (const std::size_t place : places) {
      Bytes turned = frame;
      exchange<std::uint16_t>(turned, 4 * k, 0, place);
      expect_same_decoded(spec, turned, count);
      expect_refused(spec, with(frame, 4 * k, place, std::uint16_t{count}), count);
    }
  }
}

/// Codes of qsgd of every width, that end at each bit of a byte: nothing is read or written behind a frame.
TEST_F(TiesOfCodecs, QsgdPacksCodesOfEveryWidthAndNumber) {
  for (int levels = 1; levels < 32767; levels = 2 * levels + 1) {
    for (const std::size_t count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16}) {
      const std::string spec = "qsgd:bucket_size=7,levels=" + std::to_string(levels);
      const Floats vector = random_vector(static_cast<std::int64_t>(count), 3);
      const Bytes frame = plain_.encode(*plain_.make_codec(spec), vector);
      EXPECT_EQ(tested_.encode(*tested_.make_codec(spec), vector), frame) << spec << ", " << count;
      expect_same_decoded(spec, frame, count);
    }
  }
}

}  // namespace
}  // namespace trigram::ties_of_codecs_test
