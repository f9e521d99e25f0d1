// How fast codecs run on one core, beside memcpy of the same buffer.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <vector>

#include "core/device/codec.hpp"
#include "core/values/random.hpp"
#include "experiments/measure/median.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

constexpr std::int64_t count = 16 * 1024 * 1024;  // 64 MiB of f32
constexpr int turns = 41;

/// A buffer, room for its copy, and a device that charges nothing.
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

/// Processor time, which does not run while others have the core.
template <class Work>
double seconds_of(const Work& work) {
  const std::clock_t begin = std::clock();
  work();
  benchmark::ClobberMemory();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Times `work` and a copy of the input turn by turn, so that both meet the same machine; what touches memory for the
/// first time is not timed. Counters are medians: milliseconds of each, and the speed of `work` as a share of memcpy's.
template <class Work>
void beside_memcpy(benchmark::State& state, const Work& work) {
  const auto copy = [] {
    std::memcpy(bench().output().raw(), bench().input().raw(), static_cast<std::size_t>(bench().input().bytes()));
  };
  std::vector<double> copies, works;
  copy();
  work();
  for (auto _ : state) {
    copies.push_back(seconds_of(copy));
    works.push_back(seconds_of(work));
    state.SetIterationTime(works.back());
  }
  state.counters["memcpy_ms"] = 1e3 * median(copies);
  state.counters["median_ms"] = 1e3 * median(works);
  state.counters["percent_of_memcpy"] = 100.0 * median(copies) / median(works);
}

void encode(benchmark::State& state, const std::string& spec) {
  const std::unique_ptr<Codec> codec = bench().device().make_codec(spec);
  const OwnedBuffer frame = bench().device().allocate(codec->encoded_shape(bench().input().shape()));
  beside_memcpy(state, [&] { codec->encode(bench().device(), bench().input(), frame, Key{}); });
}

void decode(benchmark::State& state, const std::string& spec) {
  const std::unique_ptr<Codec> codec = bench().device().make_codec(spec);
  const OwnedBuffer frame = bench().device().allocate(codec->encoded_shape(bench().input().shape()));
  codec->encode(bench().device(), bench().input(), frame, Key{});
  beside_memcpy(state, [&] { codec->decode(bench().device(), frame, bench().output(), Key{}); });
}

void register_one(const std::string& name, void (*function)(benchmark::State&, const std::string&),
                  const std::string& codec) {
  benchmark::RegisterBenchmark(name.c_str(), function, codec)
      ->Iterations(turns)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void register_all() {
  for (const std::string& registered : Codecs::names()) {
    if (!registered.starts_with("cpu/")) continue;
    const std::string name = registered.substr(4);
    register_one("encode/" + name, encode, name);
    register_one("decode/" + name, decode, name);
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
