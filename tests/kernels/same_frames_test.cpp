// Frames and decoded vectors of the tested kind against the plain host, bit for bit, on hard vectors; and the fused
// decode-reduce-encode against its parts.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <regex>

#include "tests/kernels/every_codec.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::same_frames_test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

const std::vector<std::string> specs = {"minmax_uint8",
                                        "qsgd",
                                        "qsgd:norm=2",
                                        "qsgd:stochastic=off",
                                        "qsgd:levels=90",
                                        "qsgd:levels=1,bucket_size=0",
                                        "qsgd:levels=3,bucket_size=0,norm=2",
                                        "qsgd:levels=100,bucket_size=64",
                                        "qsgd:levels=127,bucket_size=7",
                                        "qsgd:levels=32767,bucket_size=5000",
                                        "one_bit",
                                        "top_k:fraction=0.1",
                                        "top_k:k=1",
                                        "chunk_top_k:chunk=500,k=33",
                                        "chunk_top_k:chunk=256,k=10",
                                        "chunk_top_k:chunk=3000,k=1,marks=on",
                                        "random_k:fraction=0.4",
                                        "fp16",
                                        "bf16",
                                        "identity",
                                        "modulo",
                                        "modulo:theta=1e-6",
                                        "natural",
                                        "sign",
                                        "two_means"};
constexpr std::int64_t counts[] = {1, 15, 16, 31, 32, 33, 127, 500, 511, 512, 513, 4095, 4096, 4097, 33000};

struct Vector {
  std::string name;
  Floats values;
};

std::vector<Vector> hard_vectors(std::int64_t count) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto size = static_cast<std::size_t>(count);
  std::vector<Vector> all = {{"random", random_vector(count, 7)},
                             {"zeros of both signs", Floats(size, -0.0F)},
                             {"constant", Floats(size, -1.25F)},
                             {"huge constant", Floats(size, 3e38F)},
                             {"ties", random_vector(count, 8)},
                             {"small", random_vector(count, 9)},
                             {"tiny", random_vector(count, 10)},
                             {"huge", random_vector(count, 11)},
                             {"with NaN", random_vector(count, 12)},
                             {"with an infinity", random_vector(count, 13)},
                             {"beside a million", random_vector(count, 14)}};
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 3 == 0) all[1].values[i] = 0.0F;
    all[4].values[i] = std::round(all[4].values[i] * 3) / 3;
    all[5].values[i] *= 1e-20F;
    all[6].values[i] *= 1e-41F;
    all[7].values[i] *= 1.5e38F;
    all[10].values[i] += 1e6F;
  }
  for (std::size_t i = size / 2; i < size; i += 100) {
    constexpr std::uint32_t signs_and_payloads[] = {0x7fc00000U, 0xffc00000U, 0x7fffffffU, 0xff812345U};
    all[8].values[i] = std::bit_cast<float>(signs_and_payloads[i / 100 % 4]);
  }
  all[9].values[size - 1] = -infinity;
  return all;
}

class SameFrames : public testing::TestWithParam<std::string> {
 protected:
  TestDevice tested_;
  TestDevice plain_{Instructions::portable};
  std::unique_ptr<Codec> codec_ = tested_.make_codec(GetParam());
  std::unique_ptr<Codec> reference_ = plain_.make_codec(GetParam());
};

TEST_P(SameFrames, OfHardVectors) {
  const Key key{.seed = 5, .step = 1LL << 33U, .rank = 1};
  for (const std::int64_t count : counts) {
    for (const Vector& vector : hard_vectors(count)) {
      SCOPED_TRACE(vector.name + ", " + std::to_string(count) + " elements");
      const Bytes frame = plain_.encode(*reference_, vector.values, key);
      ASSERT_EQ(tested_.encode(*codec_, vector.values, key), frame);
      ASSERT_EQ(bits_of(tested_.decode(*codec_, frame, vector.values.size(), key)),
                bits_of(plain_.decode(*reference_, frame, vector.values.size(), key)));
    }
  }
}

// A vector that ends at each bit of a byte and at each row of a warp's words.
TEST_P(SameFrames, OfEveryLength) {
  for (std::int64_t count = 31; count < 1100; count += 31) {
    SCOPED_TRACE(std::to_string(count) + " elements");
    const Floats vector = random_vector(count, 21);
    const Bytes frame = plain_.encode(*reference_, vector);
    ASSERT_EQ(tested_.encode(*codec_, vector), frame);
    ASSERT_EQ(bits_of(tested_.decode(*codec_, frame, vector.size())),
              bits_of(plain_.decode(*reference_, frame, vector.size())));
  }
}

/// A frame's place: n frames one after the other, `offset` bytes into their memory.
Bytes fused(TestDevice& device, const Codec& codec, const std::vector<Bytes>& frames, const std::vector<Key>& keys,
            std::int64_t count, std::int64_t offset) {
  const std::int64_t size = codec.encoded_bytes(count);
  const OwnedBuffer room =
      device.allocate(Shape::of(size * static_cast<std::int64_t>(frames.size()) + offset, DType::u8));
  std::vector<KeyedFrame> keyed;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    keyed.push_back({room.view().slice(offset + size * static_cast<std::int64_t>(f), size), keys[f]});
    device.upload(std::as_bytes(std::span(frames[f])), keyed.back().frame);
  }
  const OwnedBuffer sum = device.hold(random_vector(count, 99)),
                    out = device.allocate(Shape::of(size + offset, DType::u8));
  const Buffer frame = out.view().slice(offset, size);
  codec.decode_reduce_encode(device, keyed, 1.0F / static_cast<float>(frames.size()), sum, frame,
                             {.seed = 6, .phase = Phase::server});
  return device.values<std::uint8_t>(frame);
}

TEST_P(SameFrames, OfTheFusedServer) {
  for (const std::int64_t count : {1, 33, 511, 512, 4097, 20000}) {
    for (const int ranks : {1, 2, 8, 140}) {
      if (ranks > 8 && count > 600) continue;
      std::vector<Bytes> frames;
      std::vector<Key> keys;
      for (int rank = 0; rank < ranks; ++rank) {
        keys.push_back({.seed = 6, .rank = rank});
        frames.push_back(
            plain_.encode(*reference_, random_vector(count, static_cast<std::uint64_t>(rank)), keys.back()));
      }
      for (const std::int64_t offset : {0, 1, 4}) {
        ASSERT_EQ(fused(tested_, *codec_, frames, keys, count, offset),
                  fused(plain_, *reference_, frames, keys, count, offset))
            << count << " elements of " << ranks << " ranks at " << offset;
      }
    }
  }
}

TEST_P(SameFrames, OfTheFusedServerAndHardVectors) {
  const std::vector<Key> keys = {{.seed = 6}};
  for (const std::int64_t count : {512, 1030}) {
    for (const Vector& vector : hard_vectors(count)) {
      const std::vector<Bytes> frames = {plain_.encode(*reference_, vector.values, keys[0])};
      ASSERT_EQ(fused(tested_, *codec_, frames, keys, count, 0), fused(plain_, *reference_, frames, keys, count, 0))
          << vector.name << ", " << count << " elements";
    }
  }
}

TEST(FramesOfStrangers, AreAddedAlikeWithNegativeNorms) {
  TestDevice tested, plain{Instructions::portable};
  const auto codec = tested.make_codec("qsgd"), reference = plain.make_codec("qsgd");
  const std::vector<Key> keys = {{.seed = 6}};
  constexpr std::int64_t count = 512;
  Floats small = random_vector(count, 4);
  for (float& value : small) value *= 1e-3F;
  std::vector<Bytes> frames = {plain.encode(*reference, small, keys[0])};
  frames[0][3] ^= std::uint8_t{0x80};  // the sign of the norm, which comes first
  EXPECT_EQ(fused(tested, *codec, frames, keys, count, 0), fused(plain, *reference, frames, keys, count, 0));
}

/// Vectors of a scatter-reduce: chunks of one vector, `offset` floats into its memory, and their frames 256 bytes
/// apart.
struct Chunks {
  Chunks(TestDevice& device, const Codec& codec, std::int64_t count, int parts, std::int64_t offset) {
    values = device.hold(random_vector(count + offset, 21));
    std::int64_t room = 0;
    const auto padded = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
    for (int part = 0; part < parts; ++part) {
      room += padded(codec.encoded_bytes(values.view().slice(offset, count).chunk(part, parts).count()));
    }
    frames = device.allocate(Shape::of(room, DType::u8));
    std::int64_t begin = 0;
    for (int part = 0; part < parts; ++part) {
      const Buffer vector = values.view().slice(offset, count).chunk(part, parts);
      const std::int64_t bytes = codec.encoded_bytes(vector.count());
      all.push_back({vector, frames.view().slice(begin, bytes), {.seed = 9, .rank = part, .chunk = part}});
      begin += padded(bytes);
    }
  }
  OwnedBuffer values, frames;
  std::vector<CodecPart> all;
};

TEST_P(SameFrames, OfAllChunksAtOnce) {
  for (const std::int64_t count : {1, 600, 20001}) {
    for (const int parts : {3, 130}) {
      for (const std::int64_t offset : {0, 1}) {
        SCOPED_TRACE(std::to_string(count) + " elements in " + std::to_string(parts) + " at " + std::to_string(offset));
        Chunks here(tested_, *codec_, count, parts, offset), there(plain_, *reference_, count, parts, offset);
        codec_->encode_all(tested_, here.all);
        for (const CodecPart& part : there.all) reference_->encode(plain_, part.vector, part.frame, part.key);
        ASSERT_EQ(tested_.values<std::uint8_t>(here.frames), plain_.values<std::uint8_t>(there.frames));
        codec_->decode_add_all(tested_, here.all, -0.5F);
        for (const CodecPart& part : there.all) {
          reference_->decode_add(plain_, part.frame, -0.5F, part.vector, part.key);
        }
        ASSERT_EQ(tested_.values(here.values), plain_.values(there.values));
        codec_->decode_all(tested_, here.all);
        for (const CodecPart& part : there.all) reference_->decode(plain_, part.frame, part.vector, part.key);
        ASSERT_EQ(tested_.values(here.values), plain_.values(there.values));
      }
    }
  }
}

// Squares whose sum lies half a unit of f64 from where the f32 norm rounds up: two lanes that the tree adds first hold
// 3/8 of a unit each, which is lost where one of them is added to the lane of the others. In every lane and row.
TEST(Qsgd, AddsSquaresByTheTree) {
  constexpr float first[] = {1.0F, 0x1p-12F, 0x1p-12F, 0x1p-24F, 0x1p-26F};
  constexpr float small[] = {0x1p-27F, 0x1p-28F, 0x1p-28F};
  constexpr std::size_t lanes = 32, rows = 16;
  TestDevice tested, plain(Instructions::portable);
  for (TestDevice* const device : {&tested, &plain}) {
    const auto codec = device->make_codec("qsgd:norm=2");
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      for (std::size_t begin = 0; begin + std::size(first) <= rows; ++begin) {
        Floats x(lanes * rows, 0.0F);
        const auto at = [&](std::size_t row, std::size_t other) -> float& {
          return x[lanes * (begin + row) + (lane ^ other)];
        };
        for (std::size_t row = 0; row < std::size(first); ++row) at(row, 0) = first[row];
        for (std::size_t row = 0; row < std::size(small); ++row) at(row, 2) = at(row, 18) = small[row];
        float norm = 0;
        std::memcpy(&norm, device->encode(*codec, x).data(), sizeof norm);
        ASSERT_EQ(norm, 1.0F + 0x1p-23F) << device->kind() << ", lane " << lane << ", row " << begin;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SameFrames, testing::ValuesIn(with_every_other(specs)), [](const auto& spec) {
  return std::regex_replace(spec.param, std::regex("[^a-z0-9_]"), "_");
});

}  // namespace
}  // namespace trigram::same_frames_test
