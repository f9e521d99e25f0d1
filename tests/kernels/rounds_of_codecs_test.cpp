// Codecs beside the plain host, bit for bit: frames of a server, buckets, chunks and groups by each number of rounds
// that can matter, and vectors of very unequal sizes in one launch, most of whose blocks have nothing to do.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "tests/kernels/every_codec.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::rounds_of_codecs_test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

const std::vector<std::string> specs = {"qsgd",
                                        "qsgd:norm=2",
                                        "qsgd:levels=3,bucket_size=0,norm=2",
                                        "qsgd:levels=32767,bucket_size=5000",
                                        "qsgd:levels=32767,bucket_size=5000,norm=2",
                                        "qsgd:levels=1,bucket_size=40000",
                                        "qsgd:bucket_size=100",
                                        "top_k:fraction=0.1",
                                        "chunk_top_k:chunk=128,k=9",
                                        "chunk_top_k:chunk=257,k=9",
                                        "random_k:fraction=0.4"};

class RoundsOfCodecs : public testing::TestWithParam<std::string> {
 protected:
  TestDevice tested_, plain_{Instructions::portable};
  std::unique_ptr<Codec> codec_ = tested_.make_codec(GetParam()), reference_ = plain_.make_codec(GetParam());

  /// The frame of the mean of so many vectors' frames, which lie `offset` bytes into their memory.
  static Bytes served(TestDevice& on, const Codec& codec, const std::vector<Bytes>& frames, std::int64_t count,
                      std::int64_t offset = 0) {
    std::vector<OwnedBuffer> held;
    std::vector<KeyedFrame> keyed;
    for (Bytes frame : frames) {
      const auto size = static_cast<std::int64_t>(frame.size());
      frame.insert(frame.begin(), static_cast<std::size_t>(offset), std::uint8_t{7});
      held.push_back(on.hold(frame, DType::u8));
      keyed.push_back({held.back().view().slice(offset, size), {.rank = static_cast<int>(keyed.size())}});
    }
    const OwnedBuffer sum = on.hold(Floats(static_cast<std::size_t>(count))),
                      out = on.allocate(Shape::of(codec.encoded_bytes(count), DType::u8));
    codec.decode_reduce_encode(on, keyed, 1.0F / static_cast<float>(frames.size()), sum, out, {.seed = 6});
    return on.values<std::uint8_t>(out);
  }

  static Bytes bytes_of(TestDevice& on, const Buffer& vector) {
    Bytes bytes(static_cast<std::size_t>(vector.bytes()));
    on.download(vector, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }
  /// Frames and vectors, which lie `offset` elements into their memory, after all of them are encoded, decoded and
  /// added to, at once.
  static std::vector<Bytes> at_once(TestDevice& on, const Codec& codec, const std::vector<std::int64_t>& counts,
                                    std::int64_t offset) {
    std::vector<OwnedBuffer> vectors, frames;
    std::vector<CodecPart> parts;
    for (const std::int64_t count : counts) {
      const int part = static_cast<int>(parts.size());
      vectors.push_back(on.hold(random_vector(count + offset, static_cast<std::uint64_t>(part))));
      frames.push_back(on.allocate(Shape::of(codec.encoded_bytes(count), DType::u8)));
      parts.push_back({vectors.back().view().slice(offset, count), frames.back(), {.seed = 9, .rank = part}});
    }
    std::vector<Bytes> all;
    codec.encode_all(on, parts);
    for (const OwnedBuffer& frame : frames) all.push_back(on.values<std::uint8_t>(frame));
    codec.decode_add_all(on, parts, -0.5F);
    for (const OwnedBuffer& vector : vectors) all.push_back(bytes_of(on, vector));
    codec.decode_all(on, parts);
    for (const OwnedBuffer& vector : vectors) all.push_back(bytes_of(on, vector));
    return all;
  }
};

// Small numbers too, whose norms are added up in another way.
TEST_P(RoundsOfCodecs, OfFrames) {
  for (const float size : {1.0F, 1e-3F}) {
    for (const std::int64_t count : {40, 1030}) {
      std::vector<Bytes> frames;
      for (const std::size_t ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 31, 32, 33, 64, 65, 127, 128}) {
        if (ranks > 9 && static_cast<std::size_t>(count) * ranks > 33 * 1030) continue;
        while (frames.size() < ranks) {
          Floats vector = random_vector(count, frames.size());
          for (float& value : vector) value *= size;
          frames.push_back(plain_.encode(*reference_, vector, {.rank = static_cast<int>(frames.size())}));
        }
        ASSERT_EQ(served(tested_, *codec_, frames, count), served(plain_, *reference_, frames, count))
            << count << " elements of " << ranks << " ranks, of " << size;
      }
    }
  }
}

TEST_P(RoundsOfCodecs, OfOneFrameAtAnyAddress) {
  for (const std::int64_t count : {1000, 1023, 1024}) {
    const std::vector<Bytes> frames{plain_.encode(*reference_, random_vector(count, 3))};
    for (const std::int64_t offset : {0, 1, 4})
      ASSERT_EQ(served(tested_, *codec_, frames, count, offset), served(plain_, *reference_, frames, count, offset))
          << count << " elements at " << offset;
  }
}

// At each place of what a block does at once, and of what is left behind it.
TEST_P(RoundsOfCodecs, OfInfinities) {
  constexpr std::int64_t count = 2 * 8192 - 163;
  for (const std::int64_t offset : {0, 1}) {
    const auto encoded = [&](TestDevice& on, const Codec& codec) {
      const OwnedBuffer vector = on.hold(Floats(static_cast<std::size_t>(count + offset), HUGE_VALF)),
                        frame = on.allocate(Shape::of(codec.encoded_bytes(count), DType::u8));
      codec.encode(on, vector.view().slice(offset, count), frame, {});
      return on.values<std::uint8_t>(frame);
    };
    ASSERT_EQ(encoded(tested_, *codec_), encoded(plain_, *reference_)) << offset;
  }
}

TEST_P(RoundsOfCodecs, OfUnequalVectorsAtOnce) {
  for (const std::int64_t offset : {0, 1}) {
    for (const std::vector<std::int64_t>& counts :
         {std::vector<std::int64_t>{1, 40000}, {66000, 7, 512}, {3, 1, 32768, 33}})
      ASSERT_EQ(at_once(tested_, *codec_, counts, offset), at_once(plain_, *reference_, counts, offset))
          << counts[0] << " and others at " << offset;
  }
}

// What six blocks do at once, in groups of four and eight, and what is left for another round; the ends of a tile.
TEST_P(RoundsOfCodecs, OfGroups) {
  for (const std::int64_t count :
       {1000, 1024, 1536, 4089, 4090, 4091, 4092, 4093, 4094, 4095, 6144, 6148, 12288, 24576, 24600, 49152}) {
    for (const std::int64_t offset : {0, 1})
      ASSERT_EQ(at_once(tested_, *codec_, {count}, offset), at_once(plain_, *reference_, {count}, offset))
          << count << " elements at " << offset;
  }
}

class RoundsOfBuckets : public RoundsOfCodecs {};

// Alone at each place that a lane holds, an element is the norm of its frame and of a server's, to the last bit.
TEST_P(RoundsOfBuckets, OfALoneElement) {
  constexpr std::int64_t count = 512, quarter = 128;
  for (std::int64_t place = 0; place < count; place += place % quarter < 3 ? 1 : quarter - 3) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      std::vector<Bytes> frames;
      for (const float element : random_vector(8, seed)) {
        Floats vector(static_cast<std::size_t>(count));
        vector[static_cast<std::size_t>(place)] = 1e-3F * std::abs(element);
        frames.push_back(plain_.encode(*reference_, vector));
        ASSERT_EQ(tested_.encode(*codec_, vector), frames.back()) << place;
        if (frames.size() != 2 && frames.size() != 8) continue;  // means by a power of two
        ASSERT_EQ(served(tested_, *codec_, frames, count), served(plain_, *reference_, frames, count)) << place;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoundsOfBuckets, testing::Values("qsgd", "qsgd:norm=2"));

INSTANTIATE_TEST_SUITE_P(All, RoundsOfCodecs, testing::ValuesIn(with_every_other(specs)), [](const auto& spec) {
  return std::regex_replace(spec.param, std::regex("[^a-z0-9_]"), "_");
});

}  // namespace
}  // namespace trigram::rounds_of_codecs_test
