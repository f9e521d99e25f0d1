// Checks every CUDA kernel against f64 references on fresh random vectors, and measures it beside the bandwidth of a
// copy on the same device in the same run.
//   benchmark_cuda_kernels [--elements N] [--repeats N] [--seed N] [--only TEXT]
// Exit status: 0, 1 where a check fails, 2 without a device or with a wrong flag.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>

#include "core/error.hpp"
#include "kernels/cuda/check.hpp"
#include "tests/benchmarks/cuda/bench.hpp"

namespace trigram::bench {
namespace {

struct Options {
  std::int64_t elements = std::int64_t{1} << 28;  // 1 GiB of f32 in each of four vectors
  std::int64_t repeats = 15;
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

/// The median time of `run` in seconds, by events on its stream, after two runs that warm up.
double median_seconds(Bench& bench, std::int64_t repeats, const std::function<void()>& run) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cuda::check(cudaEventCreate(&begin), "cudaEventCreate");
  cuda::check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (std::int64_t i = -2; i < repeats; ++i) {
    cuda::check(cudaEventRecord(begin, bench.stream()), "cudaEventRecord");
    run();
    cuda::check(cudaEventRecord(end, bench.stream()), "cudaEventRecord");
    bench.device().synchronize();
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (i >= 0) times.push_back(milliseconds);
  }
  cuda::check(cudaEventDestroy(begin), "cudaEventDestroy");
  cuda::check(cudaEventDestroy(end), "cudaEventDestroy");
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return static_cast<double>(times[times.size() / 2]) * 1e-3;
}

/// Prints one row; false where the check fails.
bool report(Bench& bench, const Options& options, const Case& one, double copy_rate) {
  const double deviation = one.deviation();
  const double seconds = median_seconds(bench, options.repeats, one.run);
  const double rate = one.bytes / seconds;
  const bool right = deviation <= 1.0;
  char target[32] = "       ";
  if (one.target > 0) std::snprintf(target, sizeof target, ">= %.2f", one.target);
  const char* verdict = !right ? "WRONG" : one.target > 0 && rate / copy_rate < one.target ? "below target" : "ok";
  std::printf("%-36s %9.2f MB %9.3f ms %9.1f GB/s %6.2f %s  check %8.2e  %s\n", one.name.c_str(), one.bytes * 1e-6,
              seconds * 1e3, rate * 1e-9, rate / copy_rate, target, deviation, verdict);
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
      copied / median_seconds(bench, options.repeats, [&] { bench.device().copy(bench.vector(0), bench.vector(2)); });
  std::printf("%s, %lld elements, seed %lld; copy on the device: %.1f GB/s read and written\n", properties.name,
              static_cast<long long>(options.elements), static_cast<long long>(options.seed), copy_rate * 1e-9);
  std::printf("%-36s %12s %12s %14s %6s %7s  %s\n", "kernel", "moved", "median", "rate", "/ copy", "target",
              "check: error over what is allowed");
  std::vector<Case> cases;
  add_element_cases(bench, cases);
  add_codec_cases(bench, cases);
  bool right = true;
  for (const Case& one : cases) {
    if (one.name.find(options.only) != std::string::npos) right = report(bench, options, one, copy_rate) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace trigram::bench

int main(int argc, char** argv) {
  try {
    return trigram::bench::run(trigram::bench::parse(argc, argv));
  } catch (const trigram::UsageError& error) {
    std::fprintf(stderr, "benchmark_cuda_kernels: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "benchmark_cuda_kernels: %s\n", error.what());
    return 1;
  }
}
