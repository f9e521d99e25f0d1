// Device memory of the double: what is live, and what was freed and must not be touched (see cuda_runtime.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_on_host {

/// Aligned as CUDA aligns, with unspecified bytes; null when there is none.
void* allocate_memory(std::size_t bytes);
/// What was never written shows.
void fill_fresh(void* address, std::size_t bytes);
/// False for what was not allocated, or freed before. What is freed is filled and kept for a while, so that those who
/// still read it read that, and those who write it are found.
bool free_memory(void* address);
/// Bytes of what is live.
std::int64_t live_bytes();

/// Notes a misuse when this address lies in memory that was freed.
void require_not_freed(const void* address, const char* what);
/// Notes a misuse when memory that was freed has been written since.
void require_untouched();

}  // namespace cuda_on_host
