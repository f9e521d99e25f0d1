#include "ptx/checks/initcheck.hpp"

#include <algorithm>

#include "core/values/error.hpp"
#include "ptx/checks/runs.hpp"

namespace trigram::ptx {

void UnwrittenMemory::allocated(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_.insert(address, bytes);
}

void UnwrittenMemory::written(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_.erase(address, bytes);
}

void UnwrittenMemory::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_.erase(to, bytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto unwritten = bytes_.first_in(from + at, bytes - at);
    if (!unwritten) return;
    at = *unwritten - from;
    bytes_.insert(to + at, 1);
    ++at;
  }
}

std::optional<std::uint64_t> UnwrittenMemory::first_in(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return bytes_.first_in(address, bytes);
}

namespace {

std::size_t place_in_local(const Lanes& warp, std::uint32_t lane, std::uint64_t address) {
  return (std::size_t{warp.first_thread} + lane) * warp.block->kernel.local_bytes + address;
}

std::optional<std::uint64_t> first_false(const std::vector<std::uint8_t>& written, std::uint64_t at,
                                         std::uint64_t bytes) {
  const auto begin = written.begin() + static_cast<std::ptrdiff_t>(at),
             end = begin + static_cast<std::ptrdiff_t>(bytes);
  const auto found = std::find(begin, end, 0);
  return found == end ? std::nullopt : std::optional(at + static_cast<std::uint64_t>(found - begin));
}

void set(std::vector<std::uint8_t>& written, std::uint64_t at, std::uint64_t bytes) {
  std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::uint8_t{1});
}

}  // namespace

void Initcheck::block_begins(const BlockState& block) {
  shared_.assign(block.shared.size(), 0);
  local_.assign(std::size_t{block.kernel.local_bytes} * count(block.launch.block), 0);
}

void Initcheck::accesses(const Lanes& warp, const WarpAccess& access) {
  if (access.space == Space::parameters) return;
  const auto look = [&](std::uint32_t lane, std::uint64_t address, std::uint64_t bytes) {
    if (access.access == Access::write) return write(warp, access, lane, address, bytes);
    const auto found = first_unwritten(warp, access, lane, address, bytes);
    if (found) report(warp, access, lane + static_cast<std::uint32_t>((*found - address) / access.bytes));
  };
  // Addresses of local memory are each thread's own.
  if (access.space != Space::local) return over_runs(access, look);
  over(access.lanes, [&](std::uint32_t lane) { look(lane, access.addresses[lane], access.bytes); });
}

std::optional<std::uint64_t> Initcheck::first_unwritten(const Lanes& warp, const WarpAccess& access, std::uint32_t lane,
                                                        std::uint64_t address, std::uint64_t bytes) {
  if (access.space == Space::global) return global_.first_in(address, bytes);
  if (access.space == Space::shared) return first_false(shared_, address, bytes);
  const auto found = first_false(local_, place_in_local(warp, lane, address), bytes);
  return found ? std::optional(address) : std::nullopt;
}

void Initcheck::write(const Lanes& warp, const WarpAccess& access, std::uint32_t lane, std::uint64_t address,
                      std::uint64_t bytes) {
  if (access.space == Space::global) return global_.written(address, bytes);
  if (access.space == Space::shared) return set(shared_, address, bytes);
  set(local_, place_in_local(warp, lane, address), bytes);
}

void Initcheck::report(const Lanes& warp, const WarpAccess& access, std::uint32_t lane) {
  findings_.add({"initcheck " + warp.block->kernel.name, access.instruction.place.line, 0}, [&] {
    const std::uint64_t address = access.addresses[lane];
    const std::string lies = access.space == Space::global ? warp.block->memory.what_lies_at(address) : "";
    return std::string("initcheck: uninitialized ") + name_of(access.space) + " read of " + number_text(access.bytes) +
           " bytes at address " + hexadecimal(address) + (lies.empty() ? "" : ", " + lies) +
           ", not all of which have been written, at " + in_words(warp.where(access.instruction, lane));
  });
}

}  // namespace trigram::ptx
