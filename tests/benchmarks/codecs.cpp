// How fast codecs run on one core, in input bytes (4 · count) a second, beside memcpy of the same buffer.
#include <benchmark/benchmark.h>

#include <cstring>

#include "core/codec.hpp"
#include "core/random.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

constexpr std::int64_t count = 16 * 1024 * 1024;  // 64 MiB of f32

/// A buffer, its copy, and a device that charges nothing.
class Bench {
 public:
  Bench() : timeline_([] { return 0.0; }, false), device_(cpu_kernels(), timeline_) {
    const Philox philox(Key{.seed = 1});
    float* values = input_.view().data<float>();
    for (std::int64_t i = 0; i < count; ++i) values[i] = philox.uniform(static_cast<std::uint64_t>(i)) - 0.5F;
    std::memset(output_.view().raw(), 1, static_cast<std::size_t>(output_.view().bytes()));
  }
  Device& device() { return device_; }
  Buffer input() const { return input_; }
  Buffer output() const { return output_; }

 private:
  Timeline timeline_;
  Device device_;
  OwnedBuffer input_ = device_.allocate(Shape::of(count, DType::f32));
  OwnedBuffer output_ = device_.allocate(Shape::of(count, DType::f32));
};

Bench& bench() {
  static Bench the;
  return the;
}

void count_bytes(benchmark::State& state) { state.SetBytesProcessed(state.iterations() * 4 * count); }

void copy(benchmark::State& state) {
  for (auto _ : state) {
    std::memcpy(bench().output().raw(), bench().input().raw(), static_cast<std::size_t>(bench().input().bytes()));
    benchmark::ClobberMemory();
  }
  count_bytes(state);
}

void encode(benchmark::State& state, const std::string& spec) {
  const std::unique_ptr<Codec> codec = bench().device().make_codec(spec);
  const OwnedBuffer frame = bench().device().allocate(codec->encoded_shape(bench().input().shape()));
  for (auto _ : state) codec->encode(bench().device(), bench().input(), frame, Key{});
  count_bytes(state);
}

void decode(benchmark::State& state, const std::string& spec) {
  const std::unique_ptr<Codec> codec = bench().device().make_codec(spec);
  const OwnedBuffer frame = bench().device().allocate(codec->encoded_shape(bench().input().shape()));
  codec->encode(bench().device(), bench().input(), frame, Key{});
  for (auto _ : state) codec->decode(bench().device(), frame, bench().output(), Key{});
  count_bytes(state);
}

void register_all() {
  benchmark::RegisterBenchmark("memcpy", copy)->Unit(benchmark::kMillisecond);
  for (const std::string& registered : Codecs::names()) {
    if (!registered.starts_with("cpu/")) continue;
    const std::string name = registered.substr(4);
    benchmark::RegisterBenchmark(("encode/" + name).c_str(), encode, name)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("decode/" + name).c_str(), decode, name)->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace trigram

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  trigram::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
