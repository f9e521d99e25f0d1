// Finds reads of memory that nobody has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "ptx/checks/byte_set.hpp"
#include "ptx/checks/findings.hpp"
#include "ptx/observer.hpp"

namespace trigram::ptx {

/// The bytes of devices' memory that have been allocated and not been written since. All else counts as written.
class UnwrittenMemory {
 public:
  void allocated(std::uint64_t address, std::uint64_t bytes);
  /// By the host or by a kernel; also for what is freed, which is memcheck's.
  void written(std::uint64_t address, std::uint64_t bytes);
  /// Bytes that nobody has written remain so where they are copied to.
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  std::optional<std::uint64_t> first_in(std::uint64_t address, std::uint64_t bytes);

 private:
  std::mutex mutex_;  ///< guards what follows
  ByteSet bytes_;
};

/// Looks at each byte that a kernel reads from global, shared and local memory, whether it uses it or not, as
/// compute-sanitizer's initcheck does for global memory. Registers are not looked at.
class Initcheck : public Observer {
 public:
  /// Both outlive it, and may be those of other launches, too.
  Initcheck(Findings& findings, UnwrittenMemory& global) : findings_(findings), global_(global) {}

  void block_begins(const BlockState& block) override;
  void accesses(const Lanes& warp, const WarpAccess& access) override;

 private:
  std::optional<std::uint64_t> first_unwritten(const Lanes& warp, const WarpAccess& access, std::uint32_t lane,
                                               std::uint64_t address, std::uint64_t bytes);
  void write(const Lanes& warp, const WarpAccess& access, std::uint32_t lane, std::uint64_t address,
             std::uint64_t bytes);
  void report(const Lanes& warp, const WarpAccess& access, std::uint32_t lane);

  Findings& findings_;
  UnwrittenMemory& global_;
  /// Of each byte of the block's shared memory, and of all its threads' local memory: whether it has been written.
  std::vector<std::uint8_t> shared_, local_;
};

}  // namespace trigram::ptx
