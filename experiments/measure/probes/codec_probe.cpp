#include "experiments/measure/probes/codec_probe.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <sstream>

#include "core/device/codec.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

/// From one element, which shows what a call takes, to more than a cache holds, which shows what an element takes.
constexpr std::array<std::int64_t, 5> probed_counts{1, 1 << 12, 1 << 15, 1 << 18, 1 << 22};

/// A sample goes through so many elements, so that ranks that share a core take turns within it, in so many calls.
constexpr std::int64_t elements_of_sample = 1 << 18, most_calls = 1 << 6;

std::vector<std::string> codecs_of(const std::string& kind) {
  std::vector<std::string> names;
  for (const std::string& registered : Codecs::names()) {
    if (registered.starts_with(kind + "/")) names.push_back(registered.substr(kind.size() + 1));
  }
  return names;
}

std::vector<std::string> names_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A codec with the memory that it works on.
class ProbedCodec {
 public:
  ProbedCodec(Device& device, const std::string& name, bool phantom)
      : device_(device), codec_(device.make_codec(name)) {
    const std::int64_t most = probed_counts.back();
    x_ = device.allocate({most, DType::f32, most, phantom});
    y_ = device.allocate({most, DType::f32, most, phantom});
    frame_ = device.allocate(codec_->encoded_shape(x_.view().shape()));
    device.fill_normal(x_, {});
  }

  void run(const std::string& step, std::int64_t count) {
    const Buffer x = x_.view().slice(0, count), y = y_.view().slice(0, count);
    const Buffer frame = frame_.view().slice(0, codec_->encoded_bytes(count));
    if (step == "encode") return codec_->encode(device_, x, frame, {});
    if (step == "decode") return codec_->decode(device_, frame, y, {});
    codec_->decode_add(device_, frame, 1, y, {});
  }

 private:
  Device& device_;
  std::unique_ptr<Codec> codec_;
  OwnedBuffer x_, y_, frame_;
};

double seconds_of_call(RankRuntime& runtime, ProbedCodec& codec, const std::string& step, std::int64_t count) {
  Lane& lane = runtime.lane(0);
  lane.comm->barrier();
  codec.run("encode", count);  // a frame of this size, for those that decode
  codec.run(step, count);      // brings code and data close
  lane.device->synchronize();
  const std::int64_t calls = std::clamp<std::int64_t>(elements_of_sample / count, 1, most_calls);
  const double begin = runtime.now();
  for (std::int64_t i = 0; i < calls; ++i) codec.run(step, count);
  lane.device->synchronize();
  return (runtime.now() - begin) / static_cast<double>(calls);
}

}  // namespace

void require_codecs(const std::string& names) {
  if (names == "all") return;
  for (const std::string& name : names_in(names)) make_codec_model(name);
}

std::vector<CodecOperation> codec_operations(const std::string& kind, const std::string& names) {
  const std::vector<std::string> known = codecs_of(kind);
  std::vector<CodecOperation> operations;
  for (const std::string& name : names == "all" ? known : names_in(names)) {
    if (std::ranges::find(known, name) == known.end()) throw_unknown_name("codec", name, known);
    for (const char* step : {"encode", "decode", "decode_add"}) operations.push_back({name, step});
  }
  return operations;
}

std::span<const std::int64_t> codec_counts() { return probed_counts; }

std::vector<double> probe_codecs(RankRuntime& runtime, const std::vector<CodecOperation>& operations, int rounds,
                                 bool phantom) {
  std::vector<double> seconds(operations.size() * probed_counts.size() * static_cast<std::size_t>(rounds));
  std::unique_ptr<ProbedCodec> codec;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const CodecOperation& operation = operations[i];
    if (i == 0 || operations[i - 1].codec != operation.codec)
      codec = std::make_unique<ProbedCodec>(*runtime.lane(0).device, operation.codec, phantom);
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round) {
      for (std::size_t size = 0; size < probed_counts.size(); ++size)
        seconds[(round * operations.size() + i) * probed_counts.size() + size] =
            seconds_of_call(runtime, *codec, operation.step, probed_counts[size]);
    }
  }
  return seconds;
}

}  // namespace trigram
