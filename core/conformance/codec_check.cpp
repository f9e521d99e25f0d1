#include "core/conformance/codec_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/conformance/hard_vectors.hpp"
#include "core/device/codec.hpp"
#include "core/device/on_host.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

constexpr std::int64_t counts[] = {0, 1, 2, 31, 33, 1000, 4097};
constexpr int keys = 48;           // so many draws make a mean
constexpr double generous = 1.25;  // what a mean of so many may exceed its bound by
constexpr double rounding_of_codecs = 1e-5;
constexpr double rounding_of_squares = 1e-9;
constexpr int keys_of_search = 6;               // for each vector, while the worst is looked for
constexpr std::int64_t longest_of_ascent = 64;  // elements: in longer ones a single element hardly counts
constexpr std::uint64_t steps_of_ascent = 300;

std::vector<float> vector_of(std::int64_t count, std::uint64_t seed) {
  const Philox philox(Key{.seed = seed});
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(2 * philox.uniform(static_cast<std::uint64_t>(i)) - 1);
  return values;
}

double squared_distance(const std::vector<double>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// The checks of vectors of one size on one device.
class CodecCheck {
 public:
  CodecCheck(Device& device, const Codec& codec, std::int64_t count)
      : device_(device), codec_(codec), x_(vector_of(count, 17)), in_(device.allocate(Shape::of(count, DType::f32))) {
    device.upload(std::as_bytes(std::span(x_)), in_);
    tried_.count = count;
    tried_.bytes = codec.encoded_bytes(count);
    tried_.bound = codec.properties(count).bound;
  }

  TriedCodec run() {
    frames();
    frames_of_nan();
    decoding();
    errors();
    return tried_;
  }

 private:
  void report(const std::string& invariant, const std::string& text) {
    tried_.violations.push_back({invariant, std::to_string(tried_.count) + " elements: " + text});
  }

  static Key key(int index) { return {.seed = 3, .step = index, .rank = 2, .bucket = 1}; }

  OwnedBuffer encoded(const Key& key) const {
    OwnedBuffer frame = device_.allocate(codec_.encoded_shape(in_.view().shape()));
    codec_.encode(device_, in_, frame, key);
    return frame;
  }
  std::vector<float> decoded(Buffer frame, const Key& key) const {
    const OwnedBuffer out = device_.allocate(in_.view().shape());
    codec_.decode(device_, frame, out, key);
    return on_host<float>(device_, out);
  }

  void frames() {
    if (tried_.count == 0 && tried_.bytes != 0) report("frames", std::to_string(tried_.bytes) + " bytes for nothing");
    if (on_host<std::uint8_t>(device_, encoded(key(0))) == on_host<std::uint8_t>(device_, encoded(key(0)))) return;
    report("frames", "the same vector under the same key gives another frame");
  }

  /// On another processor the same arithmetic makes a NaN of other bits.
  void frames_of_nan() {
    if (tried_.count == 0) return;
    const auto frame_with = [&](std::uint32_t bits) {
      std::vector<float> x = x_;
      for (std::size_t i = x.size() / 2; i < x.size(); i += 7) x[i] = std::bit_cast<float>(bits);
      device_.upload(std::as_bytes(std::span(x)), in_);
      return on_host<std::uint8_t>(device_, encoded(key(0)));
    };
    const std::vector<std::uint8_t> expected = frame_with(0x7fc00000U);
    for (const std::uint32_t bits : {0xffc00000U, 0x7fffffffU, 0xff812345U}) {
      if (frame_with(bits) == expected) continue;
      report("frames", "a NaN of another sign or payload gives another frame");
      break;
    }
    device_.upload(std::as_bytes(std::span(x_)), in_);
  }

  void decoding() {
    constexpr float weight = 0.75F;
    const std::vector<float> before = vector_of(tried_.count, 18);
    const OwnedBuffer frame = encoded(key(0));
    const OwnedBuffer sum = device_.allocate(in_.view().shape());
    device_.upload(std::as_bytes(std::span(before)), sum);
    codec_.decode_add(device_, frame, weight, sum, key(0));
    const std::vector<float> added = on_host<float>(device_, sum);
    const std::vector<float> alone = decoded(frame, key(0));
    for (std::size_t i = 0; i < added.size(); ++i) {
      if (added[i] == before[i] + weight * alone[i]) continue;
      return report("decoding", "decode_add gives " + std::to_string(added[i]) + " for element " + std::to_string(i) +
                                    ", decode and an addition " + std::to_string(before[i] + weight * alone[i]));
    }
  }

  void errors() {
    if (tried_.count == 0) return;
    const CodecProperties declared = codec_.properties(tried_.count);
    std::vector<double> mean(x_.size());
    const Draws draws = draw(x_, 0, keys, &mean);
    tried_.error = draws.mean;
    // Of an unbiased codec, the error of a mean of k draws is the k-th part of one draw's.
    const double left = squared_distance(mean, x_) / squared_distance(std::vector<double>(x_.size()), x_);
    if (declared.unbiased && !(left <= 3 * tried_.error / keys + rounding_of_codecs)) {
      report("unbiased", "the mean of " + std::to_string(keys) + " draws is off by " + std::to_string(left) +
                             ", one draw by " + std::to_string(tried_.error));
    }
    if (declared.contraction || declared.unbiased) bound(draws);
  }

  /// What came of encoding one vector under several keys: ‖C(x) − x‖² / ‖x‖².
  struct Draws {
    double mean = 0;
    double deviation = 0;  ///< of the mean, as these draws estimate it
    bool alike = true;     ///< all draws gave the same vector
  };

  Draws draw(const std::vector<float>& x, int first_key, int count, std::vector<double>* mean = nullptr) {
    device_.upload(std::as_bytes(std::span(x)), in_);
    const double length = squared_distance(std::vector<double>(x.size()), x);
    Draws draws;
    double squares = 0;
    std::vector<float> first;
    for (int index = 0; index < count; ++index) {
      const std::vector<float> found = decoded(encoded(key(first_key + index)), key(first_key + index));
      const double error = squared_distance({found.begin(), found.end()}, x) / length;
      draws.mean += error / count;
      squares += error * error / count;
      if (index == 0) first = found;
      draws.alike = draws.alike && found == first;
      for (std::size_t i = 0; mean != nullptr && i < mean->size(); ++i)
        (*mean)[i] += static_cast<double>(found[i]) / count;
    }
    draws.deviation = std::sqrt(std::max(0.0, squares - draws.mean * draws.mean) / count);
    return draws;
  }

  /// Of the worst vector that is found, so many draws of other keys than those that found it. A codec that draws
  /// nothing has no excuse.
  void bound(const Draws& of_any) {
    const double allowed = codec_.properties(tried_.count).bound;
    const HardVector worst = worst_vector(of_any.alike ? 1 : keys_of_search);
    const Draws draws = draw(worst.values, keys, of_any.alike ? 1 : keys);
    tried_.error = std::max(tried_.error, draws.mean);
    const double sure = draws.mean - 4 * draws.deviation;
    if (sure <= (of_any.alike ? 1 + rounding_of_codecs : generous) * allowed + rounding_of_squares) return;
    report("bound", "the mean error is " + number_text(static_cast<float>(draws.mean)) + " where the vector is " +
                        worst.name + "; declared " + number_text(allowed));
  }

  HardVector worst_vector(int keys_each) {
    HardVector worst{"uniform", x_};
    double most = draw(x_, 0, keys_each).mean;
    const auto look_at = [&](HardVector candidate) {
      const double error = draw(candidate.values, 0, keys_each).mean;
      if (error <= most) return false;
      most = error;
      worst = std::move(candidate);
      return true;
    };
    for (HardVector& one : hard_vectors(tried_.count)) look_at(std::move(one));
    if (tried_.count > longest_of_ascent) return worst;
    const Philox random(Key{.seed = 19});
    bool climbed = false;
    for (std::uint64_t step = 0; step < steps_of_ascent; ++step)
      climbed = look_at(changed(worst, random, step)) || climbed;
    if (climbed) worst.name = "near to " + worst.name;
    return worst;
  }

  Device& device_;
  const Codec& codec_;
  std::vector<float> x_;
  OwnedBuffer in_;
  TriedCodec tried_;
};

std::vector<std::byte> packed(const std::vector<TriedCodec>& all) {
  Packer packer;
  for (const TriedCodec& tried : all) {
    packer.put(tried.count);
    packer.put(tried.bytes);
    packer.put(tried.error);
    packer.put(tried.bound);
    put_violations(packer, tried.violations);
  }
  return std::move(packer).bytes();
}

std::vector<TriedCodec> tried_codecs(const std::vector<std::byte>& bytes) {
  Unpacker unpacker(bytes);
  std::vector<TriedCodec> all;
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    TriedCodec& tried = all.emplace_back();
    tried.count = unpacker.take<std::int64_t>();
    tried.bytes = unpacker.take<std::int64_t>();
    tried.error = unpacker.take<double>();
    tried.bound = unpacker.take<double>();
    tried.violations = take_violations(unpacker);
  }
  return all;
}

}  // namespace

std::vector<TriedCodec> try_codec(const std::string& spec, Device& device) {
  const auto codec = device.make_codec(spec);
  std::vector<TriedCodec> all;
  for (const std::int64_t count : counts) all.push_back(CodecCheck(device, *codec, count).run());
  return all;
}

std::vector<TriedCodec> try_codec(const std::string& spec, Backend& backend, int ranks) {
  make_codec_model(spec);
  World world;
  world.ranks = ranks;
  const Outcome outcome =
      backend.run(world, [&](RankRuntime& runtime) { return packed(try_codec(spec, *runtime.lane(0).device)); });
  return tried_codecs(outcome.results.front());
}

}  // namespace trigram
