#include "experiments/measure/probes/second_probes.hpp"

#include <algorithm>
#include <array>

#include "experiments/measure/bench_time.hpp"
#include "experiments/measure/median.hpp"

namespace trigram {
namespace {

constexpr std::int64_t kib = 1024, most_bytes = 8 * kib * kib;
constexpr std::array<SecondProbe, 7> probes{{{"all_reduce", 16 * kib},
                                             {"all_reduce", 512 * kib},
                                             {"all_reduce", most_bytes},
                                             {"all_gather", 512 * kib},
                                             {"all_to_all", 512 * kib},
                                             {"reduce_scatter", 4 * kib* kib},
                                             {"broadcast", 512 * kib}}};
constexpr int iterations = 7;

}  // namespace

std::span<const SecondProbe> second_probes() { return probes; }

// The first iteration opens connections and is not counted.
std::vector<double> probe_again(RankRuntime& runtime, bool phantom) {
  constexpr std::int64_t elements = most_bytes / 4;
  Device& device = runtime.lane(0).comm->device();
  const OwnedBuffer x = device.allocate({elements, DType::f32, elements, phantom});
  const OwnedBuffer spare = device.allocate({elements, DType::f32, elements, phantom});
  std::vector<double> seconds;
  for (int i = phantom ? 0 : -1; i < (phantom ? 1 : iterations); ++i) {
    for (const SecondProbe& probe : probes) {
      const double one =
          seconds_of(runtime, {find_bench_op(probe.op), Hierarchy::none, probe.bytes / 4}, x.view(), spare.view());
      if (i >= 0) seconds.push_back(one);
    }
  }
  return seconds;
}

std::vector<TimedAmount> second_times(const std::vector<std::vector<double>>& ranks) {
  std::vector<TimedAmount> all;
  for (std::size_t probe = 0; probe < probes.size(); ++probe) {
    std::vector<double> times;
    for (std::size_t i = probe; i < ranks.front().size(); i += probes.size()) {
      double slowest = 0;
      for (const std::vector<double>& rank : ranks) slowest = std::max(slowest, rank[i]);
      times.push_back(slowest);
    }
    all.push_back({static_cast<double>(probes[probe].bytes), median(times)});
  }
  return all;
}

}  // namespace trigram
