// Codecs of the benchmark. What is checked is what theory says of the error, in f64.
#include <algorithm>
#include <cmath>

#include "tests/benchmarks/cuda/bench.hpp"

namespace trigram::bench {
namespace {

constexpr double codec_target = 0.85;
constexpr int servers_frames = 8;

/// The largest |x̂ − x| that each element's codec allows, from the vector in f64.
using Bounds = std::vector<double>;

Bounds minmax_bounds(const Floats& x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  return Bounds(x.size(), (static_cast<double>(*high) - static_cast<double>(*low) + 1e-7) / 510.0);
}

/// One step of the bucket's norm.
Bounds qsgd_bounds(const Floats& x) {
  Bounds bounds(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += 512) {
    const std::size_t end = std::min(x.size(), begin + 512);
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i])));
    for (std::size_t i = begin; i < end; ++i) bounds[i] = largest / 127.0;
  }
  return bounds;
}

/// The error is known: ||x| − mean|x||.
Bounds one_bit_bounds(const Floats& x) {
  double sum = 0;
  for (const float value : x) sum += std::abs(static_cast<double>(value));
  Bounds bounds;
  for (const float value : x) {
    bounds.push_back(std::abs(std::abs(static_cast<double>(value)) - sum / static_cast<double>(x.size())));
  }
  return bounds;
}

/// Nothing of the k largest is lost, all of the rest.
Bounds top_k_bounds(const Floats& x) {
  const auto k = static_cast<std::size_t>(std::ceil(0.01 * static_cast<double>(x.size())));
  Floats sizes;
  for (const float value : x) sizes.push_back(std::abs(value));
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(k - 1), sizes.end(), std::greater<>());
  Bounds bounds;
  for (const float value : x) {
    bounds.push_back(std::abs(value) >= sizes[k - 1] ? 0.0 : std::abs(static_cast<double>(value)));
  }
  return bounds;
}

Bounds relative_bounds(const Floats& x, double relative, double absolute) {
  Bounds bounds;
  for (const float value : x) bounds.push_back(relative * std::abs(static_cast<double>(value)) + absolute);
  return bounds;
}

struct Known {
  std::string name;
  int reads;          ///< times that encoding reads the vector
  int fused_vectors;  ///< times that the fused server writes or reads the sum
  bool fuses;
  std::function<Bounds(const Floats&)> bounds;
  double server_instructions = 0;  ///< an element, of eight frames, as instructions.py counts for sm_90
};

const std::vector<Known>& known_codecs() {
  static const std::vector<Known> all = {
      {"minmax_uint8", 2, 2, true, minmax_bounds, 78},
      {"qsgd", 1, 0, true, qsgd_bounds, 76},
      {"one_bit", 1, 0, true, one_bit_bounds, 16},
      {"fp16", 1, 0, true, [](const Floats& x) { return relative_bounds(x, 0x1p-11, 0x1p-25); }},
      {"bf16", 1, 0, true, [](const Floats& x) { return relative_bounds(x, 0x1p-8, 0); }},
      {"identity", 1, 0, true, [](const Floats& x) { return relative_bounds(x, 0, 0); }},
      {"top_k", 5, 0, false, top_k_bounds},
      {"random_k", 0, 0, false, [](const Floats& x) { return relative_bounds(x, 99.001, 0); }}};
  return all;
}

/// In units of the bound, and of what f32 rounds besides.
double excess(const Floats& x, const Floats& decoded, const Bounds& bounds) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::abs(static_cast<double>(decoded[i]) - static_cast<double>(x[i]));
    const double allowed = bounds[i] * (1 + 1e-5) + 1e-6 * std::abs(static_cast<double>(x[i])) + 1e-12;
    largest = std::isnan(error) ? 1e9 : std::max(largest, error / allowed);
  }
  return largest;
}

/// A codec with what its cases need; they share it.
struct Subject {
  Subject(Bench& on, const Known& which)
      : bench(on),
        known(which),
        codec(on.device().make_codec(which.name)),
        frame(on.bytes(codec->encoded_bytes(on.elements()))) {}

  OwnedBuffer frame_of(const Floats& x, const Key& key) {
    const OwnedBuffer in = bench.hold(x);
    OwnedBuffer out = bench.device().allocate(codec->encoded_shape(in.view().shape()));
    codec->encode(bench.device(), in, out, key);
    return out;
  }
  Floats decoded(const Buffer& from, std::size_t count, const Key& key) {
    const OwnedBuffer out = bench.device().allocate(Shape::of(static_cast<std::int64_t>(count), DType::f32));
    codec->decode(bench.device(), from, out, key);
    return bench.values(out);
  }

  Bench& bench;
  Known known;
  std::unique_ptr<Codec> codec;
  Buffer frame;
};

double frame_bytes(const Subject& subject, std::int64_t count) {
  return static_cast<double>(subject.codec->encoded_bytes(count));
}

void add_one_way(const std::shared_ptr<Subject>& subject, std::vector<Case>& cases) {
  Bench& bench = subject->bench;
  const auto vector = 4.0 * static_cast<double>(bench.elements());
  const CodecTraffic traffic = subject->codec->traffic(bench.elements());
  const bool scatters = !subject->known.fuses;
  const double encoded = subject->known.reads * vector + frame_bytes(*subject, bench.elements());
  const Key key{.seed = 1};
  Case encode{subject->known.name + " encode",
              subject->known.reads == 0 ? traffic.encode : encoded,
              scatters ? 0 : codec_target,
              {},
              {},
              {}};
  encode.run = [subject, key](std::int64_t) {
    subject->codec->encode(subject->bench.device(), subject->bench.vector(0), subject->frame, key);
  };
  encode.deviation = [subject, key] {
    const Floats x = subject->bench.fresh(subject->bench.checked());
    return excess(x, subject->decoded(subject->frame_of(x, key), x.size(), key), subject->known.bounds(x));
  };
  Case decode{subject->known.name + " decode", traffic.decode, scatters ? 0 : codec_target, {}, {}, {}};
  // So that it decodes a frame of this codec, whatever rows were asked for.
  decode.prepare = [encode] { encode.run(0); };
  decode.run = [subject, key](std::int64_t) {
    subject->codec->decode(subject->bench.device(), subject->frame, subject->bench.vector(2), key);
  };
  decode.deviation = encode.deviation;
  Case add{subject->known.name + " decode_add",
           traffic.decode + (scatters ? 0 : vector),
           scatters ? 0 : codec_target,
           {},
           {},
           {}};
  add.prepare = decode.prepare;
  add.run = [subject, key](std::int64_t) {
    subject->codec->decode_add(subject->bench.device(), subject->frame, 0.5F, subject->bench.vector(2), key);
  };
  add.deviation = [subject, key] {
    const Floats x = subject->bench.fresh(subject->bench.checked()), y = subject->bench.fresh(subject->bench.checked());
    const OwnedBuffer frame = subject->frame_of(x, key), sum = subject->bench.hold(y);
    subject->codec->decode_add(subject->bench.device(), frame, 0.5F, sum, key);
    const Floats decoded = subject->decoded(frame, x.size(), key);
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected.push_back(static_cast<double>(y[i]) + 0.5 * static_cast<double>(decoded[i]));
    }
    return deviation(subject->bench.values(sum), expected, 2);
  };
  encode.elements = decode.elements = add.elements = bench.elements();
  cases.insert(cases.end(), {encode, decode, add});
}

/// The mean of eight frames, encoded again, against the mean in f64.
double server_deviation(const std::shared_ptr<Subject>& subject) {
  Bench& bench = subject->bench;
  std::vector<OwnedBuffer> owned;
  std::vector<KeyedFrame> frames;
  std::vector<double> mean(static_cast<std::size_t>(bench.checked()));
  for (int rank = 0; rank < servers_frames; ++rank) {
    const Key key{.seed = 2, .rank = rank};
    owned.push_back(subject->frame_of(bench.fresh(bench.checked()), key));
    frames.push_back({owned.back(), key});
    const Floats part = subject->decoded(owned.back(), mean.size(), key);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(part[i]) / servers_frames;
  }
  const OwnedBuffer sum = bench.device().allocate(Shape::of(bench.checked(), DType::f32));
  const OwnedBuffer out = bench.device().allocate(subject->codec->encoded_shape(sum.view().shape()));
  const Key key{.seed = 2, .phase = Phase::server};
  subject->codec->decode_reduce_encode(bench.device(), frames, 1.0F / servers_frames, sum, out, key);
  Floats rounded;
  for (const double value : mean) rounded.push_back(static_cast<float>(value));
  Bounds bounds = subject->known.bounds(rounded);
  for (double& bound : bounds) bound += servers_frames * 0x1p-22;  // sums in f32
  return excess(rounded, subject->decoded(out, mean.size(), key), bounds);
}

/// Frames of an eighth of the elements each, as a server of eight ranks holds them.
void add_server(const std::shared_ptr<Subject>& subject, std::vector<Case>& cases) {
  Bench& bench = subject->bench;
  const std::int64_t chunk = bench.elements() / servers_frames / 512 * 512;
  const std::int64_t size = subject->codec->encoded_bytes(chunk);
  if (chunk == 0) return;
  // As many sets of frames as outgrow the cache twice, or find room.
  const std::int64_t room = (4 * bench.elements() + 4096) / (size * servers_frames);
  const std::int64_t sets = std::clamp<std::int64_t>(2 * bench.cache_bytes() / (size * servers_frames) + 1, 1, room);
  const auto frames_of = [&bench, size, sets](std::int64_t turn) {
    std::vector<KeyedFrame> frames;
    const Buffer set =
        bench.bytes(size * servers_frames * sets).slice(turn % sets * size * servers_frames, size * servers_frames);
    for (int rank = 0; rank < servers_frames; ++rank) {
      frames.push_back({set.slice(rank * size, size), Key{.seed = 3, .rank = rank}});
    }
    return frames;
  };
  const double touched = (servers_frames + 1) * frame_bytes(*subject, chunk) +
                         4.0 * subject->known.fused_vectors * static_cast<double>(chunk);
  Case made{subject->known.name + " decode-reduce-encode", touched, codec_target, {}, {}, {}};
  made.elements = chunk;
  made.instructions = subject->known.server_instructions * static_cast<double>(chunk);
  const auto out = std::make_shared<OwnedBuffer>(bench.device().allocate(Shape::of(size, DType::u8)));
  made.prepare = [subject, frames_of, chunk, sets] {
    for (std::int64_t set = 0; set < sets; ++set) {
      for (const KeyedFrame& one : frames_of(set)) {
        subject->codec->encode(subject->bench.device(), subject->bench.vector(0).slice(0, chunk), one.frame, one.key);
      }
    }
  };
  made.run = [subject, frames_of, chunk, out](std::int64_t turn) {
    const Buffer sum = subject->bench.vector(3).slice(0, chunk);
    subject->codec->decode_reduce_encode(subject->bench.device(), frames_of(turn), 1.0F / servers_frames, sum, *out,
                                         Key{.seed = 3, .phase = Phase::server});
  };
  made.deviation = [subject] { return server_deviation(subject); };
  cases.push_back(made);
}

}  // namespace

void add_codec_cases(Bench& bench, std::vector<Case>& cases) {
  for (const Known& known : known_codecs()) {
    const auto subject = std::make_shared<Subject>(bench, known);
    add_one_way(subject, cases);
    if (known.fuses) add_server(subject, cases);
  }
}

}  // namespace trigram::bench
