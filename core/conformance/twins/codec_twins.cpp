// Compares a codec on two devices.
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/conformance/device_check.hpp"
#include "core/conformance/hard_vectors.hpp"
#include "core/conformance/twins/twins.hpp"
#include "core/device/codec.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr std::int64_t sizes_compared[] = {0, 1, 2, 31, 33, 512, 1000, 4097};
constexpr std::int64_t longest_of_all_vectors = 33;  // elements; of longer ones, a few vectors
constexpr float weight_compared = -0.75F;

std::vector<float> uniform_vector(std::int64_t count, std::uint64_t seed) {
  const Philox philox(Key{.seed = seed});
  std::vector<float> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) values.push_back(2 * philox.uniform(i) - 1);
  return values;
}

HardVector scaled(const std::string& name, std::int64_t count, float factor) {
  HardVector vector{name, uniform_vector(count, 23)};
  for (float& value : vector.values) value *= factor;
  return vector;
}

HardVector with(const std::string& name, std::int64_t count, float special) {
  HardVector vector{name, uniform_vector(count, 29)};
  if (count > 0) vector.values[static_cast<std::size_t>(count) / 2] = special;
  return vector;
}

std::vector<HardVector> vectors_of(std::int64_t count) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<HardVector> all = {{"random", uniform_vector(count, 21)},    scaled("of zeros", count, -0.0F),
                                 scaled("of tiny values", count, 1e-41F),  scaled("of huge values", count, 1.5e38F),
                                 with("with a NaN", count, std::nanf("")), with("with an infinity", count, -infinity)};
  if (count == 0 || count > longest_of_all_vectors) return all;
  for (HardVector& one : hard_vectors(count)) all.push_back(std::move(one));
  return all;
}

/// A device with a codec on it.
class Coder {
 public:
  Coder(TriedDevice& on, const std::string& spec)
      : timeline_([] { return 0.0; }, false), device(on.make(timeline_)), codec(device->make_codec(spec)) {}

 private:
  Timeline timeline_;

 public:
  const std::unique_ptr<Device> device;
  const std::unique_ptr<Codec> codec;

  /// Memory that ends where the values end, `offset` elements behind where it begins.
  OwnedBuffer hold(const std::vector<float>& values, std::int64_t offset = 0) const {
    OwnedBuffer memory = device->allocate(Shape::of(static_cast<std::int64_t>(values.size()) + offset, DType::f32));
    device->upload(std::as_bytes(std::span(values)), behind(memory, offset));
    return memory;
  }
  static Buffer behind(const Buffer& memory, std::int64_t offset) {
    return memory.slice(offset, memory.count() - offset);
  }
  /// Memory that nobody has written, so that a byte which the codec leaves out shows.
  OwnedBuffer frame(std::int64_t count, std::int64_t offset = 0) const {
    return device->allocate_unfilled(Shape::of(codec->encoded_bytes(count) + offset, DType::u8));
  }
};

Key key_of(int rank) { return {.seed = 5, .step = 1LL << 33U, .rank = rank}; }

/// One vector there and back, at an offset into its memory.
Results there_and_back(const Coder& on, const std::vector<float>& values, std::int64_t offset) {
  const auto count = static_cast<std::int64_t>(values.size());
  const OwnedBuffer in = on.hold(values, offset), frame = on.frame(count, offset), out = on.hold(values, offset),
                    sum = on.hold(uniform_vector(count, 31), offset);
  const Buffer bytes = Coder::behind(frame, offset);
  on.codec->encode(*on.device, Coder::behind(in, offset), bytes, key_of(1));
  on.codec->decode(*on.device, bytes, Coder::behind(out, offset), key_of(1));
  on.codec->decode_add(*on.device, bytes, weight_compared, Coder::behind(sum, offset), key_of(1));
  // With what lies before the vectors, which nobody may touch.
  const std::string memory = offset > 0 ? "the memory of " : "";
  return {result_of(*on.device, "the frame", bytes), result_of(*on.device, memory + "the decoded vector", out),
          result_of(*on.device, memory + "the sum of decode_add", sum)};
}

/// What a server of three ranks makes of their frames.
Results served(const Coder& on, std::int64_t count) {
  std::vector<OwnedBuffer> frames;
  std::vector<KeyedFrame> keyed;
  for (int rank = 0; rank < 3; ++rank) {
    frames.push_back(on.frame(count));
    on.codec->encode(*on.device, on.hold(uniform_vector(count, 41 + static_cast<std::uint64_t>(rank))), frames.back(),
                     key_of(rank));
    keyed.push_back({frames.back(), key_of(rank)});
  }
  const OwnedBuffer sum = on.hold(uniform_vector(count, 43)), out = on.frame(count);
  on.codec->decode_reduce_encode(*on.device, keyed, 1.0F / 3, sum, out, {.seed = 6, .phase = Phase::server});
  return {result_of(*on.device, "the server's frame", out)};
}

/// All chunks of one vector at once, their frames apart from each other as exchanges lay them.
Results in_chunks(const Coder& on, std::int64_t count) {
  constexpr int parts = 3;
  constexpr std::int64_t alignment = 256;
  const OwnedBuffer vector = on.hold(uniform_vector(count, 47)), decoded = on.hold(uniform_vector(count, 53));
  std::vector<std::int64_t> begins{0};
  for (int part = 0; part < parts; ++part) {
    const std::int64_t bytes = on.codec->encoded_bytes(vector.view().chunk(part, parts).count());
    begins.push_back(begins.back() + (bytes + alignment - 1) / alignment * alignment);
  }
  const OwnedBuffer frames = on.device->allocate(Shape::of(begins.back(), DType::u8));
  std::vector<CodecPart> encoded, back;
  for (int part = 0; part < parts; ++part) {
    const Buffer chunk = vector.view().chunk(part, parts);
    const Buffer frame =
        frames.view().slice(begins[static_cast<std::size_t>(part)], on.codec->encoded_bytes(chunk.count()));
    encoded.push_back({chunk, frame, {.seed = 9, .rank = part, .chunk = part}});
    back.push_back({decoded.view().chunk(part, parts), frame, encoded.back().key});
  }
  on.codec->encode_all(*on.device, encoded);
  on.codec->decode_all(*on.device, back);
  on.codec->decode_add_all(*on.device, back, weight_compared);
  return {result_of(*on.device, "the frames of all chunks", frames),
          result_of(*on.device, "the vector of all chunks", decoded)};
}

}  // namespace

std::vector<ComparedTrial> compare_codec(const std::string& spec, TriedDevice& tested, TriedDevice& reference) {
  const std::string name = Spec::parse(spec).name;
  std::vector<ComparedTrial> all;
  const auto passes = [&](Twins& twins, const std::string& where, const std::function<Results(const Coder&)>& work) {
    const TwinWork both = [&](TriedDevice& on) { return work(Coder(on, spec)); };
    ComparedTrial& tried = all.back();
    tried.violations = twins.compare(where, both, Alike::bits);
    tried.difference = twins.difference();
    return tried.violations.empty();
  };
  for (const std::int64_t count : sizes_compared) {
    const std::string elements = number_text(count) + " elements";
    Twins twins(name, tested, reference);
    all.push_back({elements, 0, {}});
    for (const HardVector& vector : vectors_of(count)) {
      for (const std::int64_t offset : {0, 1}) {
        const std::string where =
            elements + ", vector " + vector.name + (offset > 0 ? ", one element into its memory" : "");
        if (!passes(twins, where, [&](const Coder& on) { return there_and_back(on, vector.values, offset); }))
          return all;
      }
    }
    if (!passes(twins, elements + ", three ranks' frames", [&](const Coder& on) { return served(on, count); }) ||
        !passes(twins, elements + ", three chunks", [&](const Coder& on) { return in_chunks(on, count); }))
      return all;
  }
  return all;
}

}  // namespace trigram
