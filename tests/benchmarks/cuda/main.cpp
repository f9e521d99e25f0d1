// Checks every CUDA kernel against f64 references on fresh random vectors, and measures it beside the bandwidth of a
// copy on the same device in the same run; then what exchanges of buckets of usual sizes take.
//   benchmark_cuda_kernels [--elements N] [--repeats N] [--seed N] [--only TEXT]
// Exit status: 0, 1 where a check fails, 2 without a device or with a wrong flag.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "core/values/error.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "tests/benchmarks/cuda/bench.hpp"

namespace trigram::bench {
namespace {

struct Options {
  std::int64_t elements = std::int64_t{1} << 28;  // 1 GiB of f32 in each of four vectors
  std::int64_t repeats = 20;
  std::int64_t seed = std::chrono::system_clock::now().time_since_epoch().count();
  std::string only;
};

Options parse(int argc, char** argv) {
  Options options;
  std::map<std::string, std::int64_t*> numbers = {
      {"--elements", &options.elements}, {"--repeats", &options.repeats}, {"--seed", &options.seed}};
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    require(i + 1 < argc, flag + " needs a value");
    if (flag == "--only") {
      options.only = argv[i + 1];
      continue;
    }
    require(numbers.contains(flag), flag + " is none of --elements, --repeats, --seed, --only");
    *numbers[flag] = std::stoll(argv[i + 1]);
  }
  require(options.elements >= 4096 && options.repeats >= 1, "--elements is at least 4096, --repeats at least 1");
  return options;
}

/// Instructions that a device's threads issue in a second at the H100's clock.
double issue_rate(const Bench& bench) { return bench.multiprocessors() * 128 * 1.755e9; }

/// Of what the instructions alone would allow, where they are the limit.
constexpr double share_of_issue = 0.8;

/// Prints one row; false where the check fails.
bool report(Bench& bench, const Options& options, const Case& one, double copy_rate) {
  bench.renew_vectors();
  if (one.prepare) one.prepare();
  const double deviation = one.deviation();
  const Bench::Time time = bench.time(options.repeats, one.run);
  const double share = one.bytes / time.seconds / copy_rate;
  const double limit =
      one.instructions > 0 ? one.bytes * issue_rate(bench) / one.instructions / copy_rate : one.target + 1;
  const bool limited = limit < one.target;  // by instructions, before memory
  const double least = limited ? share_of_issue * limit : one.target;
  const bool right = deviation <= 1.0;
  char target[32] = "       ";
  if (one.target > 0)
    std::snprintf(target, sizeof target, "%s %.2f", limited ? "at most" : ">=", std::min(limit, one.target));
  const char* verdict = !right                            ? "WRONG"
                        : one.target > 0 && share < least ? "below target"
                        : limited                         ? "limited by issue"
                                                          : "ok";
  std::printf("%-36s %9.2f MB %9.3f ms %9.1f GB/s %6.2f %-12s check %8.2e  %s%s\n", one.name.c_str(), one.bytes * 1e-6,
              time.seconds * 1e3, one.bytes / time.seconds * 1e-9, share, target, deviation, verdict,
              time.enqueued_in_time ? "" : ", the host was late");
  return right;
}

int run(const Options& options) {
  int devices = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&devices); status != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "benchmark_cuda_kernels: no CUDA device: %s\n", cudaGetErrorString(status));
    return 2;
  }
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  Bench bench(options.elements, static_cast<std::uint64_t>(options.seed));
  const double copied = 8.0 * static_cast<double>(options.elements);
  const double copy_rate =
      copied /
      bench.time(options.repeats, [&](std::int64_t) { bench.device().copy(bench.vector(0), bench.vector(2)); }).seconds;
  std::printf("%s, %lld elements, seed %lld; copy on the device: %.1f GB/s read and written\n", properties.name,
              static_cast<long long>(options.elements), static_cast<long long>(options.seed), copy_rate * 1e-9);
  std::printf("%-36s %12s %12s %14s %6s %-12s %s\n", "kernel", "moved", "median", "rate", "/ copy", "target",
              "check: error over what is allowed");
  std::vector<Case> cases;
  add_element_cases(bench, cases);
  add_codec_cases(bench, cases);
  bool right = true;
  for (const Case& one : cases) {
    if (one.name.find(options.only) != std::string::npos) right = report(bench, options, one, copy_rate) && right;
  }
  report_exchanges(bench, options.repeats, options.only);
  return right ? 0 : 1;
}

}  // namespace
}  // namespace trigram::bench

int main(int argc, char** argv) {
  using namespace trigram::bench;
  return status_of("benchmark_cuda_kernels", [&] { return run(parse(argc, argv)); });
}
