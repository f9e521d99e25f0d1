// Buffers of all ranks, one after the other in one piece of memory, as MPI's variable-size collectives want them.
#pragma once

#include <span>
#include <vector>

#include "core/device/device.hpp"

namespace trigram::mpi {

/// Counts and places are in bytes.
class Packed {
 public:
  /// Throws UsageError when a part has no data, or together they are more than MPI can count.
  Packed(Device& device, std::span<const Buffer> parts);

  void copy_in() const;
  void copy_in(int part) const;
  void copy_out() const;
  void* address() const { return memory_.view().count() == 0 ? nullptr : memory_.view().raw(); }
  const int* counts() const { return counts_.data(); }
  const int* places() const { return places_.data(); }

 private:
  Buffer slot(std::size_t part) const;

  Device& device_;
  std::span<const Buffer> parts_;
  std::vector<int> counts_;
  std::vector<int> places_;
  OwnedBuffer memory_;
};

/// The bytes of a buffer as MPI counts them. Throws UsageError when it has no data, or more than MPI can count.
int countable_bytes(const Buffer& buffer);

}  // namespace trigram::mpi
