// Host memory: allocation and plain copies.
#include <cstring>
#include <new>

#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

/// A cache line, so that vector loads from an allocation's begin never straddle two.
constexpr std::align_val_t alignment{64};

}  // namespace

void* CpuKernels::allocate(std::size_t bytes) { return std::memset(allocate_unfilled(bytes), 0, bytes); }

void* CpuKernels::allocate_unfilled(std::size_t bytes) { return ::operator new(bytes, alignment); }

void CpuKernels::release(void* address) { ::operator delete(address, alignment); }

void CpuKernels::upload(std::span<const std::byte> from, Buffer to) { std::memcpy(to.raw(), from.data(), from.size()); }

void CpuKernels::download(Buffer from, std::span<std::byte> to) { std::memcpy(to.data(), from.raw(), to.size()); }

void CpuKernels::copy(Buffer from, Buffer to) {
  std::memmove(to.raw(), from.raw(), static_cast<std::size_t>(from.bytes()));
}

}  // namespace trigram
