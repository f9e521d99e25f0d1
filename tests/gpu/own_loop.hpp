// A loop that is not ours, with a stream, a model and kernels of its own on a GPU, as PyTorch has them: it drives the
// session's library by the functions of C.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/step/bucket.hpp"
#include "tests/gpu/caller_kernels.hpp"
#include "tests/gpu/meeting_kernels.hpp"
#include "tests/session/caller.hpp"

namespace trigram::testing {

/// A stream of the caller's, and what it orders there besides kernels.
class OwnStream {
 public:
  OwnStream();
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor): it is what CUDA is given
  std::uint64_t number() const { return reinterpret_cast<std::uintptr_t>(stream_); }
  /// What these numbers are when the stream comes there. Waits for it.
  std::vector<float> read(const float* numbers, std::int64_t count) const;
  void synchronize() const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// Numbers on the device.
class OwnNumbers {
 public:
  explicit OwnNumbers(std::int64_t count);
  ~OwnNumbers();
  OwnNumbers(const OwnNumbers&) = delete;
  OwnNumbers& operator=(const OwnNumbers&) = delete;

  float* begin() const { return numbers_; }
  std::int64_t count() const { return count_; }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(numbers_); }

 private:
  float* numbers_ = nullptr;
  std::int64_t count_;
};

/// The model of every rank.
const std::vector<Parameter>& own_parameters();
/// Where each begins among the elements of the model, and how many there are.
std::vector<std::int64_t> own_begins();

/// The settings of trigram_open, for a model on this thread's device.
nlohmann::json settings_on_device(const Flags& flags, bool loop_updates = true);

/// A rank's session and its loop: plain SGD along OwnLoss.
class OwnLoop {
 public:
  /// Opens it, with weights that are all `weight`, ordered late. `follows`: moments follow its stream.
  OwnLoop(const Flags& flags, float weight);
  ~OwnLoop() { trigram_close(session_); }
  OwnLoop(const OwnLoop&) = delete;
  OwnLoop& operator=(const OwnLoop&) = delete;

  operator Session*() const { return session_; }  // NOLINT(google-explicit-constructor): it is what C is given
  int rank() const { return rank_; }
  const OwnStream& stream() const { return stream_; }
  /// A step whose kernels wait until all of it has been ordered, but where `at_once`. Gives whether the host came to
  /// its end while they waited.
  bool step(int step, float rate, bool at_once);
  /// By parameter, as the stream sees them.
  std::vector<float> weights();
  void put_weights(const std::vector<float>& weights);

 private:
  void adopt();
  OwnTensor tensor(std::size_t parameter, std::int64_t begin) const;

  OwnStream stream_;
  std::int64_t elements_;
  OwnNumbers weights_, gradients_;
  std::vector<std::int64_t> places_;  ///< of each parameter in that memory
  Session* session_ = nullptr;
  int rank_ = 0;
};

}  // namespace trigram::testing
