// What every codec promises: sizes, one result of decoding, the same bits whatever the instructions and addresses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/device/codec.hpp"
#include "core/values/error.hpp"
#include "tests/kernels/every_codec.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::codecs_test {
namespace {

constexpr std::int64_t counts[] = {0, 1, 2, 31, 33, 1023, 4097, 1000003};
const Key key{.seed = 3, .step = 5, .rank = 2, .bucket = 1};

const std::vector<std::string> specs = {"minmax_uint8",
                                        "qsgd",
                                        "qsgd:levels=1,bucket_size=0",
                                        "qsgd:levels=5,bucket_size=100,norm=2",
                                        "qsgd:levels=32767,bucket_size=3000,stochastic=off",
                                        "one_bit",
                                        "top_k",
                                        "top_k:k=7",
                                        "chunk_top_k:chunk=1000,k=1000",
                                        "chunk_top_k:chunk=3000,k=7",
                                        "random_k:fraction=0.3",
                                        "random_k:k=5,scaled=off",
                                        "fp16",
                                        "bf16",
                                        "identity",
                                        "modulo",
                                        "modulo:theta=0.01"};

class EveryCodec : public testing::TestWithParam<std::string> {
 protected:
  TestDevice device_;
  std::unique_ptr<Codec> codec_ = device_.make_codec(GetParam());
};

TEST_P(EveryCodec, GivesThePlainHostsBits) {
  if (device_.kind() == "cpu" && best_instructions() == Instructions::portable) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  TestDevice portable(Instructions::portable);
  const std::unique_ptr<Codec> plain = portable.make_codec(GetParam());
  for (const std::int64_t count : counts) {
    const std::vector<float> x = random_vector(count, 17);
    const std::vector<std::uint8_t> frame = device_.encode(*codec_, x, key);
    ASSERT_EQ(frame, portable.encode(*plain, x, key)) << count;
    ASSERT_EQ(bits_of(device_.decode(*codec_, frame, x.size(), key)),
              bits_of(portable.decode(*plain, frame, x.size(), key)));
  }
}

TEST_P(EveryCodec, DecodeAddIsDecodeThenAdd) {
  for (const std::int64_t count : counts) {
    const std::vector<float> x = random_vector(count, 18);
    const std::vector<float> before = random_vector(count, 19);
    const std::vector<std::uint8_t> frame = device_.encode(*codec_, x, key);
    const OwnedBuffer sum = device_.hold(before);
    codec_->decode_add(device_, device_.hold(frame, DType::u8), 0.75F, sum, key);
    std::vector<float> expected = device_.decode(*codec_, frame, x.size(), key);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = before[i] + 0.75F * expected[i];
    ASSERT_EQ(device_.values(sum), expected) << count;
  }
}

TEST_P(EveryCodec, WorksAtAnyAddressAndStaysInsideItsFrame) {
  const std::int64_t count = 1237;
  const std::vector<float> x = random_vector(count, 20);
  const std::vector<std::uint8_t> frame = device_.encode(*codec_, x, key);
  const auto bytes = static_cast<std::int64_t>(frame.size());
  const OwnedBuffer floats = device_.allocate(Shape::of(count + 2, DType::f32));
  const OwnedBuffer room = device_.allocate(Shape::of(bytes + 2, DType::u8));
  device_.fill(room, 0xAB);
  const Buffer in = floats.view().slice(1, count);
  const Buffer out = room.view().slice(1, bytes);
  device_.copy(device_.hold(x), in);
  codec_->encode(device_, in, out, key);
  EXPECT_EQ(device_.values<std::uint8_t>(out), frame);
  EXPECT_EQ(device_.values<std::uint8_t>(room).front(), 0xAB);
  EXPECT_EQ(device_.values<std::uint8_t>(room).back(), 0xAB);
  codec_->decode(device_, out, in, key);
  EXPECT_EQ(device_.values(in), device_.decode(*codec_, frame, x.size(), key));
  EXPECT_EQ(device_.values(floats).front(), 0.0F);
  EXPECT_EQ(device_.values(floats).back(), 0.0F);
}

TEST_P(EveryCodec, KeepsAVectorOfZeros) {
  const std::vector<float> zeros(100, 0.0F);
  // ‖x − x̂‖² ≤ bound · ‖x‖² says so, but for those that lose the length of a vector.
  if (std::isinf(codec_->properties(100).bound)) GTEST_SKIP() << "its error has no bound";
  EXPECT_EQ(device_.round_trip(*codec_, zeros, key), zeros);
}

TEST_P(EveryCodec, ChargesItsTrafficOnPhantomsToo) {
  const Shape shape{1000, DType::f32, 1000, true};
  const OwnedBuffer in = device_.allocate(shape);
  const OwnedBuffer frame = device_.allocate(codec_->encoded_shape(shape));
  codec_->encode(device_, in, frame, key);
  codec_->decode(device_, frame, in, key);
  ASSERT_EQ(device_.spent.size(), 2U);
  EXPECT_EQ(device_.spent[0].bytes, codec_->traffic(1000).encode);
  EXPECT_EQ(device_.spent[1].bytes, codec_->traffic(1000).decode);
  EXPECT_EQ(frame.view().modelled_bytes(), codec_->encoded_bytes(1000));
}

INSTANTIATE_TEST_SUITE_P(All, EveryCodec, testing::ValuesIn(with_every_other(specs)));

struct Size {
  std::string spec;
  std::int64_t count;
  std::int64_t bytes;
};

TEST(EncodedBytes, AreExact) {
  TestDevice device;
  const std::vector<Size> sizes = {{"minmax_uint8", 1, 64},
                                   {"minmax_uint8", 32, 64},
                                   {"minmax_uint8", 33, 96},
                                   {"minmax_uint8", 1000, 1056},
                                   {"qsgd", 512, 516},
                                   {"qsgd", 513, 521},
                                   {"qsgd:levels=1", 9, 4 + 3},
                                   {"qsgd:levels=255", 8, 4 + 9},
                                   {"qsgd:levels=3,bucket_size=0", 5000, 4 + 1875},
                                   {"one_bit", 8, 5},
                                   {"one_bit", 9, 6},
                                   {"top_k", 1000, 80},
                                   {"top_k", 1, 8},
                                   {"top_k:k=5", 3, 24},
                                   {"chunk_top_k:k=4", 64, 20},
                                   {"chunk_top_k:k=4", 65, 25},
                                   {"chunk_top_k:k=4", 127, 40},
                                   {"chunk_top_k:chunk=257,k=9", 260, 6 * 12},
                                   {"random_k", 1001, 44},
                                   {"random_k:k=5", 9, 20},
                                   {"fp16", 3, 6},
                                   {"bf16", 3, 6},
                                   {"identity", 3, 12},
                                   {"modulo", 5, 5}};
  for (const Size& size : sizes) {
    EXPECT_EQ(device.make_codec(size.spec)->encoded_bytes(size.count), size.bytes) << size.spec << ' ' << size.count;
  }
  for (const std::string& spec : specs) EXPECT_EQ(device.make_codec(spec)->encoded_bytes(0), 0) << spec;
}

TEST(MakeCodec, RefusesWhatMakesNoSense) {
  TestDevice device;
  for (const char* spec : {"qsgd:levels=0", "qsgd:levels=40000", "qsgd:norm=3", "qsgd:bucket_size=-1",
                           "top_k:fraction=0", "top_k:fraction=1.5", "random_k:k=-1", "one_bit:levels=2",
                           "modulo:theta=0", "minmax", "chunk_top_k:chunk=8,k=9"}) {
    EXPECT_THROW(device.make_codec(spec), UsageError) << spec;
  }
}

TEST(Codecs, ShowANaN) {
  TestDevice device;
  for (const std::string& spec : specs) {
    if (spec.starts_with("random_k")) continue;  // what is not kept is not seen
    std::vector<float> x = random_vector(100, 21);
    x[50] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(device.round_trip(*device.make_codec(spec), x, key)[50])) << spec;
  }
}

TEST(TopK, RefusesAFrameThatNamesNoElement) {
  TestDevice device;
  const auto codec = device.make_codec("top_k:k=1"), of_chunks = device.make_codec("chunk_top_k:chunk=4,k=1");
  EXPECT_THROW(device.decode(*codec, {9, 0, 0, 0, 0, 0, 0, 0}, 5), Error);
  EXPECT_NO_THROW(device.decode(*of_chunks, {0, 0, 0, 0, 0, 0, 0, 0, 3, 0}, 5));
  EXPECT_THROW(device.decode(*of_chunks, {0, 0, 0, 0, 0, 0, 0, 0, 4, 0}, 5), Error);
  EXPECT_THROW(device.decode(*of_chunks, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 5), Error);
}

// Adding a frame of k kept elements reads it, and reads and writes the k sectors of 32 bytes that they lie in.
TEST(SparseCodecs, AddWhatTheyKeepOnly) {
  TestDevice device;
  const std::int64_t count = 100'000;
  const std::int64_t kept = 100;
  for (const std::string name : {"top_k", "random_k"}) {
    const auto codec = device.make_codec(name + ":k=100");
    const OwnedBuffer sum = device.allocate(Shape::of(count, DType::f32));
    const OwnedBuffer frame = device.allocate(codec->encoded_shape(sum.view().shape()));
    codec->encode(device, sum, frame, {});
    device.spent.clear();
    codec->decode_add(device, frame, 1.0F, sum, {});
    ASSERT_EQ(device.spent.size(), 1U) << name;
    EXPECT_EQ(device.spent[0].bytes, static_cast<double>(codec->encoded_bytes(count) + 2 * 32 * kept)) << name;
  }
}

}  // namespace
}  // namespace trigram::codecs_test
