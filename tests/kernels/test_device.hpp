// A device for tests: the tested kind or the plain host, and a record of what operations cost.
#pragma once

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/device/codec.hpp"
#include "core/device/on_host.hpp"
#include "core/values/random.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram {

inline Timeline& test_timeline() {
  static Timeline timeline([] { return 0.0; }, false);
  return timeline;
}

/// What this executable tests, the same at every call: suites are linked once for each kind of device.
std::shared_ptr<Kernels> tested_kernels();

class TestDevice final : public Device {
 public:
  TestDevice() : Device(tested_kernels(), test_timeline()) {}
  /// The host, which others are compared with.
  explicit TestDevice(Instructions instructions)
      : Device(std::make_shared<CpuKernels>(instructions), test_timeline()) {}

  /// What was charged, in order.
  std::vector<KernelCost> spent;

  /// A buffer with these elements; T is as wide as `dtype`.
  template <class T>
  OwnedBuffer hold(const std::vector<T>& values, DType dtype) {
    return on_device(*this, values, dtype);
  }
  OwnedBuffer hold(const std::vector<float>& values) { return hold(values, DType::f32); }

  template <class T = float>
  std::vector<T> values(const Buffer& buffer) {
    return on_host<T>(*this, buffer);
  }

  std::vector<std::uint8_t> encode(const Codec& codec, const std::vector<float>& vector, const Key& key = {}) {
    const OwnedBuffer in = hold(vector);
    const OwnedBuffer frame = allocate(codec.encoded_shape(in.view().shape()));
    codec.encode(*this, in, frame, key);
    return values<std::uint8_t>(frame);
  }

  std::vector<float> decode(const Codec& codec, const std::vector<std::uint8_t>& frame, std::size_t count,
                            const Key& key = {}) {
    const OwnedBuffer out = allocate(Shape::of(static_cast<std::int64_t>(count), DType::f32));
    codec.decode(*this, hold(frame, DType::u8), out, key);
    return values(out);
  }

  std::vector<float> round_trip(const Codec& codec, const std::vector<float>& vector, const Key& key = {}) {
    return decode(codec, encode(codec, vector, key), vector.size(), key);
  }

 private:
  void spend(const KernelCost& cost) override { spent.push_back(cost); }
};

/// `count` numbers uniform on [−1, 1), the same for the same seed.
inline std::vector<float> random_vector(std::int64_t count, std::uint64_t seed) {
  const Philox philox(Key{.seed = seed});
  std::vector<float> vector(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = 2.0F * philox.uniform(i) - 1.0F;
  return vector;
}

/// The bits of each element, with all NaN alike.
inline std::vector<std::uint32_t> bits_of(const std::vector<float>& x) {
  std::vector<std::uint32_t> all;
  for (const float value : x) all.push_back(std::isnan(value) ? ~0U : std::bit_cast<std::uint32_t>(value));
  return all;
}

/// ‖x‖² in f64.
inline double squared_norm(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

/// ‖x‖₁ in f64.
inline double one_norm(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float value : x) sum += std::abs(static_cast<double>(value));
  return sum;
}

/// ‖x − y‖² in f64.
inline double squared_distance(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace trigram
