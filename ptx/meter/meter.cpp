#include "ptx/meter/meter.hpp"

#include <bit>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ptx/meter/memory_traffic.hpp"

namespace trigram::ptx {

/// One launch of one kernel.
class Meter::Launched final : public Observer {
 public:
  explicit Launched(Meter& meter) : meter_(meter) {}

  void kernel_begins(const Kernel& kernel, const Launch& launch) override {
    name_ = kernel.name;
    first_ = kernel.code.data();
    for (const Instruction& one : kernel.code) classes_.push_back(class_of(one));
    counts_.launches = 1;
    counts_.threads = static_cast<std::uint32_t>(count(launch.block));
    counts_.shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes;
  }
  void kernel_ends() override {
    counts_.loads.different = loaded_.size();
    counts_.stores.different = stored_.size();
    meter_.add(name_, counts_);
  }
  void block_begins(const BlockState&) override { ++counts_.blocks; }

  void issues(const Lanes& warp, const Instruction& instruction, Arrival arrival) override {
    ++counts_.instructions[static_cast<std::size_t>(classes_[static_cast<std::size_t>(&instruction - first_)])];
    counts_.lanes_together += static_cast<std::uint64_t>(std::popcount(arrival.together));
    counts_.lanes_active += static_cast<std::uint64_t>(std::popcount(warp.active));
  }

  void accesses(const Lanes&, const WarpAccess& access) override {
    if (access.space == Space::global) {
      const bool loads = access.access == Access::read;
      add_global(loads ? counts_.loads : counts_.stores, loads ? loaded_ : stored_, sectors_of(access));
    } else if (access.space == Space::shared) {
      const Wavefronts wavefronts = wavefronts_of(access);
      ++counts_.shared_requests;
      counts_.wavefronts_needed += wavefronts.needed;
      counts_.wavefronts += wavefronts.taken;
    }
  }

 private:
  static void add_global(GlobalCounts& counts, std::unordered_set<std::uint64_t>& all, const Sectors& sectors) {
    ++counts.requests;
    counts.sectors += sectors.touched.size();
    counts.useful_bytes += sectors.useful_bytes;
    all.insert(sectors.touched.begin(), sectors.touched.end());
  }

  Meter& meter_;
  const Instruction* first_ = nullptr;
  std::vector<InstructionClass> classes_;  ///< by the index into the code
  std::string name_;
  KernelCounts counts_;
  std::unordered_set<std::uint64_t> loaded_, stored_;
};

std::unique_ptr<Observer> Meter::observer() { return std::make_unique<Launched>(*this); }

std::map<std::string, KernelCounts> Meter::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(counts_, {});
}

void Meter::add(const std::string& kernel, const KernelCounts& counts) {
  const std::lock_guard lock(mutex_);
  counts_[kernel].add(counts);
}

}  // namespace trigram::ptx
