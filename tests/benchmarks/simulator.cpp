// CPU seconds of the simulator, starting up and ending included: one all-reduce of 100 MB by the ring and as NCCL, one
// training step of large models, without real data; both with every mechanism of a cluster too.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "core/training/backend.hpp"
#include "core/training/training.hpp"

namespace trigram {
namespace {

constexpr std::int64_t elements = 25'000'000;

std::string cluster(std::int64_t ranks, const std::string& fidelity) {
  return "sim:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=5us,nodes=" + std::to_string(ranks) +
         ",fidelity=" + fidelity;
}

/// Of this process and of those that it has waited for: a simulation is a process of its own.
double cpu_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime})
      seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
  }
  return seconds;
}

double cpu_seconds(const std::function<void()>& work) {
  const double begin = cpu_seconds();
  work();
  return cpu_seconds() - begin;
}

/// What is neutral unless a cluster says otherwise.
const std::string mechanisms =
    ",nic_window=4MiB,connection_cap=40Gbps,connections=2,initial_window=64KiB,idle_restart=1s,message_overhead=1us,"
    "call_overhead=5us,step_overhead=1ms,nic_burst=100MB,nic_line_rate=110Gbps,compute_slowdown=1.19";

void all_reduce(benchmark::State& state, const std::string& backend_spec, const char* how) {
  const auto backend = Backends::make(backend_spec);
  World world;
  world.ranks = static_cast<int>(state.range(0));
  world.all_reduce = how;
  for (auto _ : state) {
    double simulated = 0;
    state.SetIterationTime(cpu_seconds([&] {
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

void ring_all_reduce(benchmark::State& state, const std::string& more) {
  all_reduce(state, cluster(state.range(0), more), "ring");
}

/// On nodes of 8 GPUs with a NIC each.
void nccl_all_reduce(benchmark::State& state) {
  all_reduce(state,
             "sim:gpus_per_node=8,node_bandwidth=450GB/s,nic=gpu,nic_bandwidth=400Gbps,nic_latency=5us,fidelity=fluid,"
             "nodes=" +
                 std::to_string(state.range(0) / 8),
             "nccl");
}

/// One step on nodes of 8 GPUs.
struct Trained {
  const char* workload;
  const char* algorithm;
  Hierarchy hierarchy;
  std::int64_t bucket_bytes = 10 << 20;
  std::int64_t steps = 1;
  std::string more = {};  ///< of the cluster
};

void training(benchmark::State& state, const Trained& trained) {
  const auto backend =
      Backends::make("sim:gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=50us,fidelity=fluid,nodes=" +
                     std::to_string(state.range(0) / 8) + trained.more);
  World world;
  world.ranks = static_cast<int>(state.range(0));
  TrainingOptions options;
  options.workload = trained.workload;
  options.algorithm = trained.algorithm;
  options.relaxation.hierarchy = trained.hierarchy;
  options.buckets.bytes = trained.bucket_bytes;
  options.steps = trained.steps;
  for (auto _ : state) {
    state.SetIterationTime(
        cpu_seconds([&] { state.counters["simulated_s"] = run_training(*backend, world, options).seconds; }));
  }
}

/// Medians of single iterations, on the clock that the benchmark sets.
void medians_of(int repetitions, benchmark::internal::Benchmark* of) {
  of->Iterations(1)->Repetitions(repetitions)->ReportAggregatesOnly()->UseManualTime()->Unit(benchmark::kMillisecond);
}
void five(benchmark::internal::Benchmark* of) { medians_of(5, of); }
void once(benchmark::internal::Benchmark* of) { medians_of(1, of); }
void three(benchmark::internal::Benchmark* of) { medians_of(3, of); }

BENCHMARK_CAPTURE(ring_all_reduce, fluid, "fluid")->Arg(128)->Arg(1024)->Apply(five);
BENCHMARK_CAPTURE(ring_all_reduce, fluid_with_all_mechanisms, "fluid" + mechanisms)->Arg(1024)->Apply(five);
BENCHMARK_CAPTURE(ring_all_reduce, exact, "exact")->Arg(128)->Apply(five);
BENCHMARK_CAPTURE(ring_all_reduce, exact, "exact")->Arg(1024)->Apply(three);

BENCHMARK(nccl_all_reduce)->Arg(1024)->Arg(16384)->Apply(three);

BENCHMARK_CAPTURE(training, vgg16, Trained{"vgg16", "all_reduce", Hierarchy::none})->Arg(1024)->Apply(three);
BENCHMARK_CAPTURE(training, bert_large_by_leader, Trained{"bert_large", "all_reduce", Hierarchy::leader})
    ->Arg(1024)
    ->Apply(three);
BENCHMARK_CAPTURE(training, bert_large_by_all_nics, Trained{"bert_large", "all_reduce", Hierarchy::all_nics})
    ->Arg(1024)
    ->Apply(three);
BENCHMARK_CAPTURE(training, bert_large_with_slow_backward,
                  Trained{.workload = "bert_large",
                          .algorithm = "all_reduce",
                          .hierarchy = Hierarchy::all_nics,
                          .more = ",compute_slowdown=1.19"})
    ->Arg(1024)
    ->Apply(three);
BENCHMARK_CAPTURE(
    training, bert_large_with_all_mechanisms,
    Trained{.workload = "bert_large", .algorithm = "all_reduce", .hierarchy = Hierarchy::all_nics, .more = mechanisms})
    ->Arg(1024)
    ->Apply(three);
BENCHMARK_CAPTURE(training, bert_large_bytegrad, Trained{"bert_large", "bytegrad", Hierarchy::leader})
    ->Arg(1024)
    ->Apply(three);
BENCHMARK_CAPTURE(training, bert_large_bytegrad_in_one_bucket,
                  Trained{"bert_large", "bytegrad", Hierarchy::leader, std::int64_t{2} << 30, 2})
    ->Arg(16384)
    ->Apply(once);

}  // namespace
}  // namespace trigram
