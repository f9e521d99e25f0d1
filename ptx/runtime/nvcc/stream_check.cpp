#include "ptx/runtime/nvcc/stream_check.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "ptx/checks/runs.hpp"
#include "ptx/runtime/allocations.hpp"
#include "ptx/runtime/state.hpp"
#include "ptx/where.hpp"

namespace cuda_on_host {
namespace {

namespace ptx = trigram::ptx;

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

/// Gathers what a kernel touches.
class Touched : public ptx::Observer {
 public:
  explicit Touched(std::shared_ptr<StreamCheck> check) : check_(std::move(check)), use_{*current_work(), {}, {}, {}} {}

  void kernel_begins(const ptx::Kernel& kernel, const ptx::Launch&) override {
    use_.what = "kernel " + ptx::readable(kernel.name);
  }
  void accesses(const ptx::Lanes&, const ptx::WarpAccess& access) override {
    if (access.space != ptx::Space::global) return;
    ptx::ByteSet& bytes = access.access == ptx::Access::read ? use_.reads : use_.writes;
    ptx::over_runs(access,
                   [&](std::uint32_t, std::uint64_t address, std::uint64_t count) { bytes.insert(address, count); });
  }
  void kernel_ends() override { check_->add(std::move(use_)); }

 private:
  std::shared_ptr<StreamCheck> check_;
  StreamCheck::Use use_;
};

}  // namespace

std::unique_ptr<ptx::Observer> StreamCheck::observer() {
  if (current_work() == nullptr) return nullptr;
  return std::make_unique<Touched>(shared_from_this());
}

void StreamCheck::allocated(const void* address, std::size_t bytes) {
  use("cudaMallocAsync", nullptr, 0, address, bytes);
}

void StreamCheck::freed(const void* address, std::size_t bytes) {
  use("cudaFreeAsync", nullptr, 0, address, bytes);
  forget(address, bytes);
}

void StreamCheck::reads(const void* from, std::size_t bytes, const char* call) { use(call, from, bytes, nullptr, 0); }
void StreamCheck::writes(const void* to, std::size_t bytes, const char* call) { use(call, nullptr, 0, to, bytes); }
void StreamCheck::copies(const void* to, const void* from, std::size_t bytes, const char* call) {
  use(call, from, bytes, to, bytes);
}

void StreamCheck::use(const char* call, const void* read, std::size_t read_bytes, const void* written,
                      std::size_t written_bytes) {
  if (current_work() == nullptr) return;  // the host has waited for the device
  Use now{*current_work(), call, {}, {}};
  now.reads.insert(number(read), read_bytes);
  now.writes.insert(number(written), written_bytes);
  add(std::move(now));
}

void StreamCheck::add(Use now) {
  const std::lock_guard lock(mutex_);
  for (auto earlier = past_.begin(); earlier != past_.end();) {
    if (earlier->work.precedes(now.work)) {
      // Who meets it and not this work would have to come between the two.
      earlier->reads.erase(now.writes);
      earlier->writes.erase(now.writes);
      if (earlier->work.stream == now.work.stream) earlier->reads.erase(now.reads);
    } else {
      compare(*earlier, now);
    }
    const bool is_over = (earlier->reads.empty() && earlier->writes.empty()) || is_past(earlier->work);
    earlier = is_over ? past_.erase(earlier) : std::next(earlier);
  }
  past_.push_back(std::move(now));
}

void StreamCheck::forget(const void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (Use& use : past_) {
    use.reads.erase(number(address), bytes);
    use.writes.erase(number(address), bytes);
  }
}

void StreamCheck::compare(const Use& earlier, const Use& now) {
  std::optional<std::uint64_t> met = earlier.writes.common(now.writes);
  const char* hazard = "write after write";
  if (!met && (met = earlier.writes.common(now.reads))) hazard = "read after write";
  if (!met && (met = earlier.reads.common(now.writes))) hazard = "write after read";
  if (!met) return;
  const std::string first = earlier.what + " on " + earlier.work.on, second = now.what + " on " + now.work.on;
  findings_.add({"streamcheck " + first + second, 0, 0}, [&] {
    return std::string("streamcheck: ") + hazard + " hazard at " + what_lies_at(*met, current_device()) +
           ": no event and no wait orders " + second + ", and " + first;
  });
}

}  // namespace cuda_on_host
