// The memory of a device, as the kernels of one launch see it.
#pragma once

#include <array>
#include <span>
#include <string>

#include "ptx/memory.hpp"

namespace cuda_on_host {

/// Holds each access to what is allocated: addresses are the host's, and no byte outside of one allocation is reached.
class DeviceMemory : public trigram::ptx::Memory {
 public:
  explicit DeviceMemory(int device) : device_(device) {}

  std::byte* at(std::uint64_t address, std::size_t bytes, trigram::ptx::Access access) override;
  std::string what_lies_at(std::uint64_t address) override;

 private:
  /// Found last, so that few accesses wait for the lock of all allocations.
  std::array<std::span<std::byte>, 8> recent_;
  std::size_t oldest_ = 0;
  std::uint64_t changes_ = 0;
  int device_;
};

}  // namespace cuda_on_host
