// Wall time of the simulator: one ring all-reduce of 100 MB, without real data.
#include <benchmark/benchmark.h>

#include <chrono>

#include "core/backend.hpp"
#include "core/training.hpp"

namespace trigram {
namespace {

constexpr std::int64_t elements = 25'000'000;

std::string cluster(std::int64_t ranks, const char* fidelity) {
  return "sim:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=5us,nodes=" + std::to_string(ranks) +
         ",fidelity=" + fidelity;
}

double wall_seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void ring_all_reduce(benchmark::State& state, const char* fidelity) {
  const auto backend = Backends::make(cluster(state.range(0), fidelity));
  World world;
  world.ranks = static_cast<int>(state.range(0));
  for (auto _ : state) {
    double simulated = 0;
    state.SetIterationTime(wall_seconds([&] {
      simulated = backend
                      ->run(world,
                            [](RankRuntime& runtime) {
                              runtime.lane(0).comm->all_reduce({nullptr, Shape{elements, DType::f32, elements, true}},
                                                               ReduceOp::sum);
                              return std::vector<std::byte>{};
                            })
                      .seconds;
    }));
    state.counters["simulated_s"] = simulated;
  }
}

/// One iteration with Bagua's hierarchy, taken from a run of several, so that starting up counts once.
void bert_large_iteration(benchmark::State& state) {
  const auto backend =
      Backends::make("sim:nodes=16,gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=50us,fidelity=fluid");
  World world;
  world.ranks = 128;
  TrainingOptions options;
  options.workload = "bert_large";
  options.relaxation.hierarchy = Hierarchy::leader;
  constexpr int steps = 5;
  const auto seconds_of = [&](int count) {
    options.steps = count;
    return wall_seconds([&] { run_training(*backend, world, options); });
  };
  for (auto _ : state) state.SetIterationTime((seconds_of(1 + steps) - seconds_of(1)) / steps);
}

/// Medians of single iterations, on the clock that the benchmark sets.
void medians_of(int repetitions, benchmark::internal::Benchmark* of) {
  of->Iterations(1)->Repetitions(repetitions)->ReportAggregatesOnly()->UseManualTime()->Unit(benchmark::kMillisecond);
}
void five(benchmark::internal::Benchmark* of) { medians_of(5, of); }
void three(benchmark::internal::Benchmark* of) { medians_of(3, of); }

BENCHMARK_CAPTURE(ring_all_reduce, fluid, "fluid")->Arg(128)->Arg(1024)->Apply(five);
BENCHMARK_CAPTURE(ring_all_reduce, exact, "exact")->Arg(128)->Apply(five);
BENCHMARK_CAPTURE(ring_all_reduce, exact, "exact")->Arg(1024)->Apply(three);
BENCHMARK(bert_large_iteration)->Apply(five);

}  // namespace
}  // namespace trigram
