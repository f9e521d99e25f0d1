#include "tests/benchmarks/cuda/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "core/device/on_host.hpp"
#include "core/values/error.hpp"
#include "core/values/random.hpp"
#include "kernels/cuda/runtime/check.hpp"

namespace trigram::bench {

Stream::Stream() { cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"); }
Stream::~Stream() { static_cast<void>(cudaStreamDestroy(stream)); }

namespace {

struct Event {
  Event() { cuda::check(cudaEventCreate(&event), "cudaEventCreate"); }
  ~Event() { static_cast<void>(cudaEventDestroy(event)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t event = nullptr;
};

}  // namespace

Bench::Bench(std::int64_t elements, std::uint64_t seed)
    : timeline_([] { return 0.0; }, false),
      device_(cuda_kernels(stream_.stream), timeline_),
      elements_(elements),
      seed_(seed) {
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  multiprocessors_ = properties.multiProcessorCount;
  cache_bytes_ = properties.l2CacheSize;
  random_ = fresh(std::min<std::int64_t>(elements, 1 << 24));
  for (int i = 0; i < 4; ++i) vectors_.push_back(device_.allocate(Shape::of(elements, DType::f32)));
  renew_vectors();
  bytes_ = device_.allocate(Shape::of(4 * elements + 4096, DType::u8));
}

void Bench::renew_vectors() {
  const auto piece = static_cast<std::int64_t>(random_.size());
  for (const std::size_t i : {0U, 1U}) {
    for (std::int64_t begin = 0; begin < elements_; begin += piece) {
      const std::int64_t count = std::min(elements_ - begin, piece);
      device_.upload(std::as_bytes(std::span(random_).first(static_cast<std::size_t>(count))),
                     vectors_[i].view().slice(begin, count));
    }
  }
  for (const std::size_t i : {2U, 3U}) device_.fill(vectors_[i], 0);
}

Buffer Bench::bytes(std::int64_t count) const { return bytes_.view().slice(0, count); }

Floats Bench::fresh(std::int64_t count) {
  const Philox philox(Key{.seed = seed_++});
  Floats values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2.0F * philox.uniform(i) - 1.0F;
  return values;
}

OwnedBuffer Bench::hold(const Floats& values) { return on_device(device_, values); }

Floats Bench::values(const Buffer& buffer) { return on_host<float>(device_, buffer); }

void Bench::occupy(double seconds) {
  constexpr double rate = 5e12;  // more than any device copies
  const auto copies = static_cast<std::int64_t>(std::ceil(seconds * rate / (8.0 * static_cast<double>(elements_))));
  for (std::int64_t i = 0; i < std::min<std::int64_t>(copies, 500); ++i) device_.copy(vectors_[0], vectors_[2]);
}

Bench::Time Bench::time(std::int64_t repeats, const std::function<void(std::int64_t turn)>& run) {
  constexpr int batches = 3;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const Event begin, end;
  std::vector<double> times;
  Time result;
  double host = 0;
  for (int batch = -1; batch < batches; ++batch) {  // the first one warms up, and tells how long the host takes
    occupy(2 * host);
    cuda::check(cudaEventRecord(begin.event, stream()), "cudaEventRecord");
    const auto enqueue = now();
    for (std::int64_t turn = 0; turn < repeats; ++turn) run(turn);
    host = std::max(host, std::chrono::duration<double>(now() - enqueue).count());
    if (batch >= 0) result.enqueued_in_time &= cudaEventQuery(begin.event) == cudaErrorNotReady;
    cuda::check(cudaEventRecord(end.event, stream()), "cudaEventRecord");
    device_.synchronize();
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, begin.event, end.event), "cudaEventElapsedTime");
    if (batch >= 0) times.push_back(static_cast<double>(milliseconds) * 1e-3 / static_cast<double>(repeats));
  }
  std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
  result.seconds = times[batches / 2];
  return result;
}

double deviation(const Floats& got, const std::vector<double>& expected, double roundings) {
  double largest = got.size() == expected.size() ? 0.0 : 1e9;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    const double allowed = roundings * 0x1p-23 * std::max(std::abs(expected[i]), 0x1p-3);
    const double distance = std::abs(static_cast<double>(got[i]) - expected[i]) / allowed;
    largest = std::isnan(distance) ? 1e9 : std::max(largest, distance);
  }
  return largest;
}

int status_of(const char* program, const std::function<int()>& run) {
  try {
    return run();
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

}  // namespace trigram::bench
