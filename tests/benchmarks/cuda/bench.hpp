// The benchmark of CUDA kernels: what a case is, and what all cases share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/device/codec.hpp"
#include "core/device/device.hpp"
#include "kernels/cuda/kernels.hpp"

namespace trigram::bench {

using Floats = std::vector<float>;

/// One kernel, or the few launches of one operation.
struct Case {
  std::string name;
  double bytes = 0;   ///< read and written by `run`, as the kernel is written
  double target = 0;  ///< the fraction of copy bandwidth that it should reach; 0: none is set
  /// Orders it once more. Where its data would fit into a cache, each turn takes others.
  std::function<void(std::int64_t turn)> run;
  /// How far results on a fresh vector are from an f64 reference, in units of what is allowed: at most 1.
  std::function<double()> deviation;
  /// Makes what `run` reads; may be empty.
  std::function<void()> prepare;
  /// Instructions of all elements, as instructions.py counts them for sm_90; 0 where they are far from a limit.
  double instructions = 0;
  /// Of the vector, or of the server's chunk, that `run` goes over once.
  std::int64_t elements = 0;
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
  /// One of four f32 vectors of `elements`, at first two random ones and two of zeros.
  Buffer vector(int index) const { return vectors_[static_cast<std::size_t>(index)]; }
  /// Makes them what they were at first: cases leave in them what they computed, NaN among it.
  void renew_vectors();
  /// Room for frames of any codec of `elements`.
  Buffer bytes(std::int64_t count) const;

  /// Elements of a vector that is checked: no multiple of anything.
  std::int64_t checked() const { return std::min<std::int64_t>(elements_, 1000003); }
  /// Uniform on [−1, 1), different at every call.
  Floats fresh(std::int64_t count);
  OwnedBuffer hold(const Floats& values);
  Floats values(const Buffer& buffer);
  /// The device's multiprocessors, and bytes of its largest cache.
  int multiprocessors() const { return multiprocessors_; }
  std::int64_t cache_bytes() const { return cache_bytes_; }

  /// Seconds of one run: the median over a few batches of `repeats` turns, which wait behind other work until all of a
  /// batch are enqueued, between two events. `enqueued_in_time` tells whether they were.
  struct Time {
    double seconds = 0;
    bool enqueued_in_time = true;
  };
  Time time(std::int64_t repeats, const std::function<void(std::int64_t turn)>& run);

 private:
  /// Copies that keep the device busy for about so long.
  void occupy(double seconds);

  Stream stream_;
  Timeline timeline_;
  Device device_;
  std::int64_t elements_;
  std::uint64_t seed_;
  Floats random_;  ///< the first two begin with it, again and again
  std::vector<OwnedBuffer> vectors_;
  OwnedBuffer bytes_;
  int multiprocessors_ = 0;
  std::int64_t cache_bytes_ = 0;
};

/// Elementwise operations, sums and optimizers.
void add_element_cases(Bench& bench, std::vector<Case>& cases);
/// Every codec of kind "cuda": encode, decode, decode_add and the fused server.
void add_codec_cases(Bench& bench, std::vector<Case>& cases);

/// What an exchange of buckets of usual and of odd sizes costs the device of one of eight ranks, in microseconds.
void report_exchanges(Bench& bench, std::int64_t repeats, const std::string& only);

/// Returns what `run` returns as the exit status of a program; what it throws is said on the error stream behind the
/// program's name, and is 2 for a wrong flag, else 1.
int status_of(const char* program, const std::function<int()>& run);

/// max |got − expected| / allowed(expected), where f32 rounds `roundings` times.
double deviation(const Floats& got, const std::vector<double>& expected, double roundings);

}  // namespace trigram::bench
