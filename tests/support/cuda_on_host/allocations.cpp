#include "tests/support/cuda_on_host/allocations.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/support/cuda_on_host/control.hpp"

namespace cuda_on_host {
namespace {

constexpr int fresh = 0xCD, freed = 0xDD;
constexpr std::size_t alignment = 256;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t keep = 0;  // the sanitizer sees who touches it
#else
constexpr std::size_t keep = std::size_t{8} << 20U;
#endif

using Blocks = std::map<const void*, std::size_t>;

/// The block that holds the address, or none.
Blocks::const_iterator holder(const Blocks& blocks, const void* address) {
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return blocks.end();
  const auto before = std::prev(after);
  const auto* end = static_cast<const std::byte*>(before->first) + before->second;
  return static_cast<const std::byte*>(address) < end ? before : blocks.end();
}

struct Memory {
  std::mutex mutex;  ///< guards what follows
  Blocks live, buried;
  std::deque<void*> oldest_first;  ///< of the buried
  std::size_t live_bytes = 0, buried_bytes = 0;
};
Memory& memory() {
  static auto* const the = new Memory;  // outlives every stream's thread
  return *the;
}

bool is_untouched(const void* address, std::size_t bytes) {
  if (keep == 0) return true;
  const auto* begin = static_cast<const unsigned char*>(address);
  return std::all_of(begin, begin + bytes, [](unsigned char byte) { return byte == freed; });
}

/// Whether all that has to go was as it was left.
bool bury(Memory& all, void* address, std::size_t bytes) {
  if (keep > 0) std::memset(address, freed, bytes);
  all.buried[address] = bytes;
  all.buried_bytes += bytes;
  all.oldest_first.push_back(address);
  bool untouched = true;
  while (all.buried_bytes > keep) {
    void* const oldest = all.oldest_first.front();
    const auto block = all.buried.find(oldest);
    untouched = untouched && is_untouched(oldest, block->second);
    all.buried_bytes -= block->second;
    all.buried.erase(block);
    all.oldest_first.pop_front();
    std::free(oldest);
  }
  return untouched;
}

bool host_memory_is_device_memory() {
  static const char* const named = std::getenv("CUDA_ON_HOST_MEMORY");
  return named != nullptr && std::string(named) == "any";
}

/// Whether all of these bytes may be used on the device.
bool is_usable(const Memory& all, const void* address, std::size_t bytes) {
  const auto found = holder(all.live, address);
  if (found == all.live.end()) return host_memory_is_device_memory() && holder(all.buried, address) == all.buried.end();
  const auto* end = static_cast<const std::byte*>(found->first) + found->second;
  return static_cast<std::size_t>(end - static_cast<const std::byte*>(address)) >= bytes;
}

constexpr const char* written = "device memory was written to after it had been freed";

}  // namespace

void* allocate_memory(std::size_t bytes) {
  void* address = nullptr;
  if (posix_memalign(&address, alignment, bytes) != 0) return nullptr;
  const std::lock_guard lock(memory().mutex);
  memory().live[address] = bytes;
  memory().live_bytes += bytes;
  return address;
}

void fill_fresh(void* address, std::size_t bytes) { std::memset(address, fresh, bytes); }

bool free_memory(void* address) {
  bool untouched = true;
  {
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().live.find(address);
    if (found == memory().live.end()) return false;
    const std::size_t bytes = found->second;
    memory().live_bytes -= bytes;
    memory().live.erase(found);
    untouched = bury(memory(), address, bytes);
  }
  if (!untouched) misuse(written);
  return true;
}

std::int64_t live_bytes() {
  const std::lock_guard lock(memory().mutex);
  return static_cast<std::int64_t>(memory().live_bytes);
}

void require_not_freed(const void* address, const char* what) {
  bool gone = false;
  {
    const std::lock_guard lock(memory().mutex);
    gone = holder(memory().buried, address) != memory().buried.end();
  }
  if (gone) misuse(std::string(what) + " uses device memory that had been freed");
}

void require_live(const void* address, std::size_t bytes, const char* what) {
  if (bytes == 0) return;
  bool whole = false;
  {
    const std::lock_guard lock(memory().mutex);
    whole = is_usable(memory(), address, bytes);
  }
  if (!whole) misuse(std::string(what) + " touches " + std::to_string(bytes) + " bytes that are no live device memory");
}

void require_untouched() {
  bool untouched = true;
  {
    const std::lock_guard lock(memory().mutex);
    for (const auto& [address, bytes] : memory().buried) {
      if (is_untouched(address, bytes)) continue;
      untouched = false;
      std::memset(const_cast<void*>(address), freed, bytes);  // said once
    }
  }
  if (!untouched) misuse(written);
}

}  // namespace cuda_on_host
