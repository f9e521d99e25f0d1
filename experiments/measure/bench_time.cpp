#include "experiments/measure/bench_time.hpp"

#include <algorithm>

#include "core/lane/hierarchy.hpp"

namespace trigram {
namespace {

void perform(RankRuntime& runtime, const BenchCase& bench, Buffer x, Buffer spare) {
  if (bench.hierarchy == Hierarchy::none) return bench.op.run(*runtime.lane(0).comm, x, spare);
  Worker worker(runtime, 0, {.hierarchy = bench.hierarchy});
  hierarchical_by_chunks(worker, x, NodeValue::weighted_mean,
                         [&bench, spare](Communicator& group, Buffer part) { bench.op.run(group, part, spare); });
}

}  // namespace

double seconds_of(RankRuntime& runtime, const BenchCase& bench, Buffer x, Buffer spare) {
  Communicator& comm = *runtime.lane(0).comm;
  comm.barrier();
  comm.device().synchronize();
  const double begin = runtime.now();
  perform(runtime, bench, x.slice(0, bench.elements), spare.slice(0, bench.elements));
  comm.device().synchronize();
  return runtime.now() - begin;
}

double phantom_seconds(RankRuntime& runtime, const BenchCase& bench) {
  const std::int64_t count = std::max<std::int64_t>(1, bench.elements);
  Device& device = runtime.lane(0).comm->device();
  const OwnedBuffer x = device.allocate({count, DType::f32, count, /*phantom=*/true});
  const OwnedBuffer spare = device.allocate({count, DType::f32, count, /*phantom=*/true});
  return seconds_of(runtime, bench, x.view(), spare.view());
}

}  // namespace trigram
