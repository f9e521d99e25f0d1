#include "ptx/runtime/allocations.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ptx/runtime/control.hpp"
#include "ptx/runtime/memory_watch.hpp"
#include "ptx/runtime/repeated_memory.hpp"
#include "ptx/runtime/state.hpp"

namespace cuda_on_host {
namespace {

constexpr int fresh = 0xCD, freed = 0xDD;
constexpr std::size_t alignment = 256;
constexpr std::size_t large = std::size_t{1} << 30U;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t keep = 0;  // the sanitizer sees who touches it
#else
constexpr std::size_t keep = std::size_t{8} << 20U;
#endif
/// So many are looked at whenever a test asks, which all those that a process has freed would make quadratic.
constexpr std::size_t most_buried = 1024;

struct Block {
  std::size_t bytes;
  int device;
  /// 1 for the first of its kind that the process made, and how many kernels had been launched then.
  std::int64_t ordinal, launches;
  bool repeated = false;
};
using Blocks = std::map<const void*, Block>;

const std::byte* end_of(const Blocks::value_type& block) {
  return static_cast<const std::byte*>(block.first) + block.second.bytes;
}

/// The block that begins last of those that begin at the address or before it, or none.
Blocks::const_iterator last_before(const Blocks& blocks, const void* address) {
  const auto after = blocks.upper_bound(address);
  return after == blocks.begin() ? blocks.end() : std::prev(after);
}

/// The block that holds the address, or none.
Blocks::const_iterator holder(const Blocks& blocks, const void* address) {
  const auto before = last_before(blocks, address);
  const bool holds = before != blocks.end() && static_cast<const std::byte*>(address) < end_of(*before);
  return holds ? before : blocks.end();
}

struct Memory {
  std::mutex mutex;  ///< guards what follows
  Blocks live, buried, pinned;
  std::deque<void*> oldest_first;  ///< of the buried
  std::size_t live_bytes = 0, buried_bytes = 0;
  std::int64_t allocated = 0, pinned_so_far = 0;
  std::atomic<std::uint64_t> changes{0};
};
Memory& memory() {
  static auto* const the = new Memory;  // outlives every stream's thread
  return *the;
}

bool is_untouched(const void* address, std::size_t bytes) {
  if (keep == 0) return true;
  // The first byte, and each of the others as the one before it: the C library compares many at a time.
  const auto* begin = static_cast<const unsigned char*>(address);
  return bytes == 0 || (*begin == freed && std::memcmp(begin, begin + 1, bytes - 1) == 0);
}

/// Whether all that has to go was as it was left.
bool bury(Memory& all, void* address, const Block& block) {
  if (keep > 0) std::memset(address, freed, block.bytes);
  all.buried[address] = block;
  all.buried_bytes += block.bytes;
  all.oldest_first.push_back(address);
  bool untouched = true;
  while (all.buried_bytes > keep || all.oldest_first.size() > most_buried) {
    void* const oldest = all.oldest_first.front();
    const auto found = all.buried.find(oldest);
    untouched = untouched && is_untouched(oldest, found->second.bytes);
    all.buried_bytes -= found->second.bytes;
    all.buried.erase(found);
    all.oldest_first.pop_front();
    std::free(oldest);
  }
  return untouched;
}

/// Whether all of these bytes may be used on the device.
bool is_usable(const Memory& all, const void* address, std::size_t bytes) {
  const auto found = holder(all.live, address);
  if (found == all.live.end()) return state().host_memory_too && holder(all.buried, address) == all.buried.end();
  return static_cast<std::size_t>(end_of(*found) - static_cast<const std::byte*>(address)) >= bytes;
}

std::string in_words(const Blocks::value_type& block) {
  char text[64];
  std::snprintf(text, sizeof text, "%zu bytes at %p", block.second.bytes, block.first);
  return text;
}

std::string with_device(const Blocks::value_type& block) {
  return in_words(block) + " of device " + std::to_string(block.second.device) + ", allocation " +
         std::to_string(block.second.ordinal);
}

constexpr const char* written = "device memory was written to after it had been freed";

}  // namespace

void repeat_large_memory() { state().large_is_repeated = true; }

void* allocate_memory(std::size_t bytes, int device) {
  const bool repeated = state().large_is_repeated && bytes >= large;
  void* address = nullptr;
  if (repeated) {
    address = map_repeated(bytes);
  } else if (posix_memalign(&address, alignment, bytes) != 0) {
    return nullptr;
  }
  if (address == nullptr) return nullptr;
  const std::lock_guard lock(memory().mutex);
  memory().live[address] = {bytes, device, ++memory().allocated, launches(), repeated};
  memory().live_bytes += bytes;
  ++memory().changes;
  return address;
}

void fill_fresh(void* address, std::size_t bytes) { std::memset(address, fresh, bytes); }

namespace {

/// Of the allocation that begins there; 0 where none does.
std::size_t bytes_of(const void* address) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().live.find(address);
  return found == memory().live.end() ? 0 : found->second.bytes;
}

}  // namespace

bool free_memory(void* address) {
  bool untouched = true;
  memory_watches().freed(address, bytes_of(address));
  {
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().live.find(address);
    if (found == memory().live.end()) return false;
    const Block block = found->second;
    memory().live_bytes -= block.bytes;
    memory().live.erase(found);
    ++memory().changes;
    if (block.repeated) {
      unmap_repeated(address, block.bytes);
    } else {
      untouched = bury(memory(), address, block);
    }
  }
  if (!untouched) misuse(written);
  return true;
}

void* allocate_pinned(std::size_t bytes) {
  void* address = nullptr;
  if (posix_memalign(&address, alignment, bytes) != 0) return nullptr;
  fill_fresh(address, bytes);
  const std::lock_guard lock(memory().mutex);
  memory().pinned[address] = {bytes, 0, ++memory().pinned_so_far, launches()};
  ++memory().changes;
  return address;
}

bool free_pinned(void* address) {
  {
    const std::lock_guard lock(memory().mutex);
    if (memory().pinned.erase(address) == 0) return false;
    ++memory().changes;
  }
  std::free(address);
  return true;
}

bool is_pinned(const void* address) {
  const std::lock_guard lock(memory().mutex);
  return holder(memory().pinned, address) != memory().pinned.end();
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
    for (const auto& [address, block] : memory().buried) {
      if (is_untouched(address, block.bytes)) continue;
      untouched = false;
      std::memset(const_cast<void*>(address), freed, block.bytes);  // said once
    }
  }
  if (!untouched) misuse(written);
}

std::span<std::byte> piece_at(std::uint64_t number, int device) {
  auto* const address = reinterpret_cast<std::byte*>(number);
  const std::lock_guard lock(memory().mutex);
  const auto piece = [](const Blocks::value_type& block) {
    return std::span(static_cast<std::byte*>(const_cast<void*>(block.first)), block.second.bytes);
  };
  const auto found = holder(memory().live, address);
  if (found != memory().live.end()) return found->second.device == device ? piece(*found) : std::span<std::byte>();
  const auto pinned = holder(memory().pinned, address);
  return pinned == memory().pinned.end() ? std::span<std::byte>() : piece(*pinned);
}

bool is_memory_of_the_host(std::uint64_t number) {
  if (!state().host_memory_too) return false;
  const auto* const address = reinterpret_cast<const std::byte*>(number);
  const std::lock_guard lock(memory().mutex);
  return holder(memory().live, address) == memory().live.end() &&
         holder(memory().buried, address) == memory().buried.end();
}

std::string what_lies_at(std::uint64_t number, int device) {
  auto* const address = reinterpret_cast<std::byte*>(number);
  const std::lock_guard lock(memory().mutex);
  const Blocks& live = memory().live;
  const auto inside = [address](const Blocks::value_type& block) {
    return "byte " + std::to_string(address - static_cast<const std::byte*>(block.first)) + " of ";
  };
  if (const auto found = holder(memory().buried, address); found != memory().buried.end())
    return inside(*found) + with_device(*found) + ", which were freed";
  if (const auto found = holder(memory().pinned, address); found != memory().pinned.end())
    return inside(*found) + in_words(*found) + " of pinned memory of the host";
  constexpr std::ptrdiff_t near = 1 << 20;
  const auto before = last_before(live, address);
  if (before == live.end() || address - end_of(*before) > near) return "no memory of device " + std::to_string(device);
  if (address < end_of(*before)) return inside(*before) + with_device(*before);
  return std::to_string(address - end_of(*before)) + " bytes behind the " + with_device(*before);
}

std::vector<std::string> leaked_memory() {
  const std::lock_guard lock(memory().mutex);
  std::vector<std::string> leaks;
  const auto add = [&leaks](const Blocks::value_type& block, const std::string& what) {
    leaks.push_back("memcheck: leaked " + what + ", made when " + std::to_string(block.second.launches) +
                    " kernels had been launched");
  };
  for (const auto& block : memory().live) add(block, with_device(block));
  for (const auto& block : memory().pinned)
    add(block, in_words(block) + " of pinned memory, its allocation " + std::to_string(block.second.ordinal));
  return leaks;
}

std::uint64_t changes_of_memory() { return memory().changes; }

}  // namespace cuda_on_host
