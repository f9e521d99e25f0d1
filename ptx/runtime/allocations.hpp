// Memory of devices: what is live, and what was freed and must not be touched (see cuda_runtime.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cuda_on_host {

/// Aligned as CUDA aligns, with unspecified bytes, and a device's own; null when there is none.
void* allocate_memory(std::size_t bytes, int device);
/// What was never written shows.
void fill_fresh(void* address, std::size_t bytes);
/// False for what was not allocated, or freed before. What is freed is filled and kept for a while, so that those who
/// still read it read that, and those who write it are found.
bool free_memory(void* address);
/// What is live, device memory and pinned, in a sentence each.
std::vector<std::string> leaked_memory();
/// Bytes of what is live.
std::int64_t live_bytes();

/// Pinned memory of the host, which every device may use; fresh, or null when there is none.
void* allocate_pinned(std::size_t bytes);
/// False for what is none.
bool free_pinned(void* address);
bool is_pinned(const void* address);

/// Notes a misuse when this address lies in memory that was freed.
void require_not_freed(const void* address, const char* what);
/// Notes a misuse when memory that was freed has been written since.
void require_untouched();

/// All of the live memory of a device, or pinned memory, that holds this address; empty where no such memory does.
std::span<std::byte> piece_at(std::uint64_t address, int device);
/// Whether this address is the host's own memory, of which nothing is known but that it was never a device's, and may
/// be used all the same (see take_host_memory_for_device_memory).
bool is_memory_of_the_host(std::uint64_t address);
/// What lies at an address that a device may not use, as "8 bytes behind the 400 bytes at 0x7f0000001000 of device 0".
std::string what_lies_at(std::uint64_t address, int device);
/// A number that grows whenever memory is allocated or freed, so that what was found may be kept until then.
std::uint64_t changes_of_memory();

}  // namespace cuda_on_host
