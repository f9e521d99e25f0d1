#include "core/conformance/codec_check.hpp"

#include <cmath>

#include "core/codec.hpp"
#include "core/packing.hpp"
#include "core/random.hpp"

namespace trigram {
namespace {

constexpr std::int64_t counts[] = {0, 1, 2, 31, 33, 1000, 4097};
constexpr int keys = 48;           // so many draws make a mean
constexpr double generous = 1.25;  // what a mean of so many may exceed its bound by
constexpr double rounding_of_codecs = 1e-5;

std::vector<float> vector_of(std::int64_t count, std::uint64_t seed) {
  const Philox philox(Key{.seed = seed});
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(2 * philox.uniform(static_cast<std::uint64_t>(i)) - 1);
  return values;
}

template <class T>
std::vector<T> on_host(Device& device, Buffer buffer) {
  std::vector<T> values(static_cast<std::size_t>(buffer.count()));
  device.download(buffer, std::as_writable_bytes(std::span(values)));
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
    const CodecProperties declared = codec_.properties(tried_.count);
    std::vector<double> mean(x_.size());
    double error = 0;
    for (int index = 0; index < keys; ++index) {
      const std::vector<float> found = decoded(encoded(key(index)), key(index));
      error += squared_distance({found.begin(), found.end()}, x_) / keys;
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(found[i]) / keys;
    }
    const double length = squared_distance(std::vector<double>(x_.size()), x_);
    if (length == 0) return;
    tried_.error = error / length;
    const bool bounded = declared.contraction || declared.unbiased;
    if (bounded && !(tried_.error <= generous * declared.bound + rounding_of_codecs)) {
      report("bound",
             "the mean error is " + std::to_string(tried_.error) + ", declared " + std::to_string(declared.bound));
    }
    // Of an unbiased codec, the error of a mean of k draws is the k-th part of one draw's.
    const double left = squared_distance(mean, x_) / length;
    if (declared.unbiased && !(left <= 3 * tried_.error / keys + rounding_of_codecs)) {
      report("unbiased", "the mean of " + std::to_string(keys) + " draws is off by " + std::to_string(left) +
                             ", one draw by " + std::to_string(tried_.error));
    }
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

std::vector<TriedCodec> try_codec(const std::string& spec, Backend& backend, int ranks) {
  make_codec_model(spec);
  World world;
  world.ranks = ranks;
  const Outcome outcome = backend.run(world, [&](RankRuntime& runtime) {
    Device& device = *runtime.lane(0).device;
    const auto codec = device.make_codec(spec);
    std::vector<TriedCodec> all;
    for (const std::int64_t count : counts) all.push_back(CodecCheck(device, *codec, count).run());
    return packed(all);
  });
  return tried_codecs(outcome.results.front());
}

}  // namespace trigram
