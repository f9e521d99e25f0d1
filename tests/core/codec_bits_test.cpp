// Every codec gives on every backend's device the frames and vectors that it gives on this processor.
#include <span>

#include "core/device/codec.hpp"
#include "kernels/cpu/kernels.hpp"
#include "tests/core/conformance.hpp"

namespace trigram::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Those of the product: mutants are made for the processor only.
std::vector<std::string> codec_names() {
  std::vector<std::string> names;
  for (const std::string& name : Codecs::names()) {
    if (name.starts_with("cpu/") && !name.starts_with("cpu/mutant_")) names.push_back(name.substr(4));
  }
  return names;
}

class CodecBits : public OnEveryPlace {};
INSTANTIATE_TEST_SUITE_P(Everywhere, CodecBits, every_place(), place_name);

/// Numbers of both signs and many magnitudes.
std::vector<float> values(int rank, std::int64_t count) {
  const Philox philox(Key{.seed = 11, .rank = rank});
  std::vector<float> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    all.push_back((2 * philox.uniform(at) - 1) * static_cast<float>(1 + philox.bits(at) % 1000));
  }
  return all;
}

void append(Bytes& all, Device& device, const Buffer& buffer) {
  Bytes part(static_cast<std::size_t>(buffer.bytes()));
  device.download(buffer, std::as_writable_bytes(std::span(part)));
  all.insert(all.end(), part.begin(), part.end());
}

/// A frame, its vector, a weighted sum with it, and the frame of a mean of three.
Bytes everything(Device& device, const std::string& spec, int rank, std::int64_t count) {
  const auto codec = device.make_codec(spec);
  const OwnedBuffer x = on_device(device, values(rank, count));
  const Key key{.seed = 3, .step = 5, .rank = rank, .bucket = 2};
  const OwnedBuffer frame = device.allocate(codec->encoded_shape(x.view().shape()));
  const OwnedBuffer other = device.allocate(frame.view().shape());
  const OwnedBuffer served = device.allocate(frame.view().shape());
  const OwnedBuffer decoded = device.allocate(x.view().shape());
  const OwnedBuffer sum = device.allocate(x.view().shape());
  codec->encode(device, x, frame, key);
  codec->decode(device, frame, decoded, key);
  const Key next{.seed = 3, .step = 6, .rank = rank, .bucket = 2};
  codec->encode(device, decoded, other, next);
  codec->decode_add(device, other, -0.5F, decoded, next);
  const std::vector<KeyedFrame> frames{{frame, key}, {other, next}, {frame, key}};
  codec->decode_reduce_encode(device, frames, 1.0F / 3.0F, sum, served, key);
  Bytes all;
  for (const Buffer& each : {frame.view(), other.view(), decoded.view(), served.view()}) append(all, device, each);
  return all;
}

/// The same for all codecs and for sizes with and without a whole vector or block.
Bytes everything(Device& device, int rank) {
  Bytes all;
  for (const std::string& codec : codec_names()) {
    for (const std::int64_t count : {1, 31, 33, 4099}) {
      const Bytes part = everything(device, codec, rank, count);
      all.insert(all.end(), part.begin(), part.end());
    }
  }
  return all;
}

TEST_P(CodecBits, AreThoseOfTheProcessor) {
  const auto results = run<std::uint8_t>(
      [](RankRuntime& runtime) { return everything(*runtime.lane(0).device, runtime.lane(0).comm->rank()); });
  Timeline timeline([] { return 0.0; }, false);
  Device processor(cpu_kernels(), timeline);
  for (int rank = 0; rank < ranks(); ++rank) {
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], everything(processor, rank)) << "rank " << rank;
  }
}

/// The frame of a mean of four, by parts and at once: what one pass may not change.
void append_served(Bytes& by_parts, Bytes& at_once, Device& device, const std::string& spec) {
  const auto codec = device.make_codec(spec);
  const Shape shape = Shape::of(1027, DType::f32);
  const OwnedBuffer sum = device.allocate(shape);
  const OwnedBuffer served = device.allocate(codec->encoded_shape(shape));
  std::vector<OwnedBuffer> memory;
  std::vector<KeyedFrame> frames;
  for (int rank = 0; rank < 4; ++rank) {
    const Key key{.seed = 9, .rank = rank};
    memory.push_back(device.allocate(served.view().shape()));
    codec->encode(device, on_device(device, values(rank, shape.count)), memory.back(), key);
    codec->decode_add(device, memory.back(), 1.0F, sum, key);
    frames.push_back({memory.back(), key});
  }
  const Key server{.seed = 9, .rank = 1, .phase = Phase::server};
  device.scale(sum, 0.25F);
  codec->encode(device, sum, served, server);
  append(by_parts, device, served);
  codec->decode_reduce_encode(device, frames, 0.25F, sum, served, server);
  append(at_once, device, served);
}

TEST_P(CodecBits, AServersPassEqualsItsParts) {
  const auto results = run<std::uint8_t>([](RankRuntime& runtime) {
    Bytes by_parts;
    Bytes at_once;
    for (const std::string& codec : codec_names()) append_served(by_parts, at_once, *runtime.lane(0).device, codec);
    return Bytes{static_cast<std::uint8_t>(by_parts.size() > 10000), static_cast<std::uint8_t>(by_parts == at_once)};
  });
  for (const Bytes& result : results) EXPECT_EQ(result, (Bytes{1, 1}));
}

}  // namespace
}  // namespace trigram::testing
