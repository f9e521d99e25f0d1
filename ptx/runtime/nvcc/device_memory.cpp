#include "ptx/runtime/nvcc/device_memory.hpp"

#include "ptx/runtime/allocations.hpp"

namespace cuda_on_host {
namespace {

bool holds(std::span<std::byte> piece, std::uint64_t address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(piece.data());
  return address >= begin && bytes <= piece.size() && address - begin <= piece.size() - bytes;
}

}  // namespace

std::byte* DeviceMemory::at(std::uint64_t address, std::size_t bytes, trigram::ptx::Access) {
  if (const std::uint64_t changes = changes_of_memory(); changes != changes_) {
    recent_ = {};
    changes_ = changes;
  }
  for (const auto piece : recent_) {
    if (holds(piece, address, bytes)) return reinterpret_cast<std::byte*>(address);
  }
  const auto piece = piece_at(address, device_);
  if (piece.empty() && is_memory_of_the_host(address)) return reinterpret_cast<std::byte*>(address);
  if (!holds(piece, address, bytes)) {
    const std::uint64_t wrong = piece.empty() ? address : reinterpret_cast<std::uint64_t>(piece.data() + piece.size());
    throw trigram::ptx::InvalidAddress(what_lies_at(wrong));
  }
  recent_[oldest_] = piece;
  oldest_ = (oldest_ + 1) % recent_.size();
  return reinterpret_cast<std::byte*>(address);
}

std::string DeviceMemory::what_lies_at(std::uint64_t address) { return cuda_on_host::what_lies_at(address, device_); }

}  // namespace cuda_on_host
