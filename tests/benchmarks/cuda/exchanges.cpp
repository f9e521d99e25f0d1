// What the kernels of one bucket's exchange take, of a rank among eight: its chunks encoded in one launch, the frames
// of its own chunk added up and encoded, and all chunks decoded in one launch.
#include <algorithm>
#include <cstdio>

#include "tests/benchmarks/cuda/bench.hpp"

namespace trigram::bench {
namespace {

constexpr int ranks = 8;
constexpr std::int64_t frame_alignment = 256;  // as an exchange lays them

/// A bucket's size, and where it begins in its memory.
struct Size {
  const char* name;
  std::int64_t count, offset;
};
constexpr Size sizes[] = {{"64 KB", 1 << 14, 0},
                          {"1 MB", 1 << 18, 0},
                          {"4 MB", 1 << 20, 0},
                          {"25 MB", 25 << 18, 0},
                          {"512125 at element 1", 512125, 1},
                          {"8 x 513 buckets of 512", 8 * 513 * 512, 0}};

std::int64_t padded(std::int64_t bytes) { return (bytes + frame_alignment - 1) / frame_alignment * frame_alignment; }

/// A bucket at one of several places, which together outgrow the cache twice where there is room.
class Bucket {
 public:
  Bucket(Bench& bench, const Codec& codec, const Size& size, std::int64_t turn) {
    std::int64_t frame_bytes = 0;
    for (int part = 0; part < ranks; ++part) {
      frame_bytes += padded(codec.encoded_bytes(bench.vector(0).slice(0, size.count).chunk(part, ranks).count()));
    }
    const std::int64_t step = size.count + 64;
    const std::int64_t places = std::min((bench.elements() - size.offset) / step, 4 * bench.elements() / frame_bytes);
    const std::int64_t wanted = 2 * bench.cache_bytes() / (4 * size.count) + 1;
    const std::int64_t place = turn % std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(places, 1));
    const auto whole = [&](int index) { return bench.vector(index).slice(place * step + size.offset, size.count); };
    std::int64_t begin = place * frame_bytes;
    const Buffer memory = bench.bytes((place + 1) * frame_bytes);
    for (int part = 0; part < ranks; ++part) {
      const Buffer chunk = whole(0).chunk(part, ranks);
      const std::int64_t bytes = codec.encoded_bytes(chunk.count());
      encoded.push_back({chunk, memory.slice(begin, bytes), {.seed = 4, .chunk = part}});
      decoded.push_back({whole(2).chunk(part, ranks), encoded.back().frame, encoded.back().key});
      begin += padded(bytes);
    }
    // The first chunk's frames of all ranks are those of chunks as long; shorter ones serve as none.
    for (const CodecPart& part : encoded) {
      if (part.vector.count() == encoded[0].vector.count()) frames.push_back({part.frame, part.key});
    }
    sum = whole(3).chunk(0, ranks);
  }

  std::vector<CodecPart> encoded, decoded;
  std::vector<KeyedFrame> frames;
  Buffer sum;
};

double microseconds(Bench& bench, std::int64_t repeats, const std::function<void(std::int64_t)>& run) {
  return bench.time(repeats, run).seconds * 1e6;
}

void report(Bench& bench, std::int64_t repeats, const std::string& name, const Size& size) {
  const std::unique_ptr<Codec> codec = bench.device().make_codec(name);
  std::vector<Bucket> buckets;
  for (std::int64_t turn = 0; turn < repeats; ++turn) {
    buckets.emplace_back(bench, *codec, size, turn);
    codec->encode_all(bench.device(), buckets.back().encoded);
  }
  const OwnedBuffer out = bench.device().allocate(Shape::of(codec->encoded_bytes(size.count), DType::u8));
  const auto bucket = [&](std::int64_t turn) -> const Bucket& { return buckets[static_cast<std::size_t>(turn)]; };
  const double encode =
      microseconds(bench, repeats, [&](std::int64_t turn) { codec->encode_all(bench.device(), bucket(turn).encoded); });
  const double server = microseconds(bench, repeats, [&](std::int64_t turn) {
    const Buffer& sum = bucket(turn).sum;
    codec->decode_reduce_encode(bench.device(), bucket(turn).frames, 1.0F / ranks, sum,
                                out.view().slice(0, codec->encoded_bytes(sum.count())), {.phase = Phase::server});
  });
  const double decode =
      microseconds(bench, repeats, [&](std::int64_t turn) { codec->decode_all(bench.device(), bucket(turn).decoded); });
  std::printf("%-14s %-24s %9.2f %9.2f %9.2f %9.2f\n", name.c_str(), size.name, encode, server, decode,
              encode + server + decode);
}

}  // namespace

void report_exchanges(Bench& bench, std::int64_t repeats, const std::string& only) {
  std::printf("\nkernels of an exchange among %d ranks, in microseconds; one element filled: %.2f\n", ranks,
              microseconds(bench, repeats, [&](std::int64_t) { bench.device().fill(bench.vector(3).slice(0, 1), 0); }));
  std::printf("%-14s %-24s %9s %9s %9s %9s\n", "codec", "bucket", "encode", "server", "decode", "sum");
  for (const char* name : {"minmax_uint8", "qsgd", "one_bit", "fp16", "bf16"}) {
    for (const Size& size : sizes) {
      const bool fits = size.count + size.offset <= bench.elements();
      if (fits && std::string(name).find(only.substr(0, only.find(' '))) != std::string::npos) {
        report(bench, repeats, name, size);
      }
    }
  }
}

}  // namespace trigram::bench
