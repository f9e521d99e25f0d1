// The benchmark of CUDA kernels: what a case is, and what all cases share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/codec.hpp"
#include "core/device.hpp"
#include "kernels/cuda/kernels.hpp"

namespace trigram::bench {

using Floats = std::vector<float>;

/// One kernel, or the few launches of one operation.
struct Case {
  std::string name;
  double bytes = 0;   ///< read and written by `run`, as the kernel is written
  double target = 0;  ///< the fraction of copy bandwidth that it should reach; 0: none is set
  std::function<void()> run;
  /// How far results on a fresh vector are from an f64 reference, in units of what is allowed: at most 1.
  std::function<double()> deviation;
};

/// A stream of its own.
struct Stream {
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t stream = nullptr;
};

/// The device, and vectors that outgrow every cache.
class Bench {
 public:
  Bench(std::int64_t elements, std::uint64_t seed);

  Device& device() { return device_; }
  cudaStream_t stream() const { return stream_.stream; }
  std::int64_t elements() const { return elements_; }
  /// One of four f32 vectors of `elements`, the first two of them random.
  Buffer vector(int index) const { return vectors_[static_cast<std::size_t>(index)]; }
  /// Room for frames of any codec of `elements`.
  Buffer bytes(std::int64_t count) const;

  /// Elements of a vector that is checked: no multiple of anything.
  std::int64_t checked() const { return std::min<std::int64_t>(elements_, 1000003); }
  /// Uniform on [−1, 1), different at every call.
  Floats fresh(std::int64_t count);
  OwnedBuffer hold(const Floats& values);
  Floats values(const Buffer& buffer);

 private:
  Stream stream_;
  Timeline timeline_;
  Device device_;
  std::int64_t elements_;
  std::uint64_t seed_;
  std::vector<OwnedBuffer> vectors_;
  OwnedBuffer bytes_;
};

/// Elementwise operations, sums and optimizers.
void add_element_cases(Bench& bench, std::vector<Case>& cases);
/// Every codec of kind "cuda": encode, decode, decode_add and the fused server.
void add_codec_cases(Bench& bench, std::vector<Case>& cases);

/// max |got − expected| / allowed(expected), where f32 rounds `roundings` times.
double deviation(const Floats& got, const std::vector<double>& expected, double roundings);

}  // namespace trigram::bench
