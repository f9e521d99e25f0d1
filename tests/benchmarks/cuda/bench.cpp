#include "tests/benchmarks/cuda/bench.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "kernels/cuda/check.hpp"

namespace trigram::bench {

Stream::Stream() { cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"); }
Stream::~Stream() { static_cast<void>(cudaStreamDestroy(stream)); }

Bench::Bench(std::int64_t elements, std::uint64_t seed)
    : timeline_([] { return 0.0; }, false),
      device_(cuda_kernels(stream_.stream), timeline_),
      elements_(elements),
      seed_(seed) {
  const Floats random = fresh(std::min<std::int64_t>(elements, 1 << 24));
  for (int i = 0; i < 4; ++i) {
    vectors_.push_back(device_.allocate(Shape::of(elements, DType::f32)));
    for (std::int64_t begin = 0; i < 2 && begin < elements; begin += static_cast<std::int64_t>(random.size())) {
      const std::int64_t count = std::min(elements - begin, static_cast<std::int64_t>(random.size()));
      device_.upload(std::as_bytes(std::span(random).first(static_cast<std::size_t>(count))),
                     vectors_.back().view().slice(begin, count));
    }
  }
  bytes_ = device_.allocate(Shape::of(4 * elements + 4096, DType::u8));
}

Buffer Bench::bytes(std::int64_t count) const { return bytes_.view().slice(0, count); }

Floats Bench::fresh(std::int64_t count) {
  const Philox philox(Key{.seed = seed_++});
  Floats values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2.0F * philox.uniform(i) - 1.0F;
  return values;
}

OwnedBuffer Bench::hold(const Floats& values) {
  OwnedBuffer buffer = device_.allocate(Shape::of(static_cast<std::int64_t>(values.size()), DType::f32));
  device_.upload(std::as_bytes(std::span(values)), buffer);
  return buffer;
}

Floats Bench::values(const Buffer& buffer) {
  Floats host(static_cast<std::size_t>(buffer.count()));
  device_.download(buffer, std::as_writable_bytes(std::span(host)));
  return host;
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

}  // namespace trigram::bench
