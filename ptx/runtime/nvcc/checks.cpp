#include "ptx/runtime/nvcc/checks.hpp"

#include <cstdio>
#include <map>
#include <memory>

#include "core/values/error.hpp"
#include "ptx/checks/findings.hpp"
#include "ptx/checks/initcheck.hpp"
#include "ptx/checks/racecheck.hpp"
#include "ptx/runtime/allocations.hpp"
#include "ptx/runtime/memory_watch.hpp"
#include "ptx/runtime/nvcc/observers.hpp"
#include "ptx/runtime/nvcc/stream_check.hpp"
#include "ptx/runtime/state.hpp"
#include "ptx/runtime/stream_order.hpp"

namespace cuda_on_host {
namespace {

namespace ptx = trigram::ptx;

ptx::Findings& findings() {
  static auto* const the = new ptx::Findings([](const std::string& message) {
    if (!state().keeps_misuses_quiet) std::fprintf(stderr, "the double of CUDA: %s\n", message.c_str());
  });
  return *the;
}

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

/// What the host's calls write, and what they read back.
class WrittenByCalls : public MemoryWatch {
 public:
  explicit WrittenByCalls(std::shared_ptr<ptx::UnwrittenMemory> memory) : memory_(std::move(memory)) {}

  void allocated(const void* address, std::size_t bytes) override { memory_->allocated(number(address), bytes); }
  void freed(const void* address, std::size_t bytes) override { memory_->written(number(address), bytes); }
  void reads(const void* from, std::size_t bytes, const char* call) override {
    const auto unwritten = memory_->first_in(number(from), bytes);
    if (!unwritten) return;
    const std::string lies = what_lies_at(*unwritten, current_device());
    findings().add({"initcheck " + lies, 0, 0}, [&] {
      return "initcheck: " + std::string(call) + " copies " + std::to_string(bytes) +
             " bytes to the host, and nobody has written " + lies;
    });
  }
  void writes(const void* to, std::size_t bytes, const char*) override { memory_->written(number(to), bytes); }
  void copies(const void* to, const void* from, std::size_t bytes, const char*) override {
    memory_->copied(number(to), number(from), bytes);
  }

 private:
  std::shared_ptr<ptx::UnwrittenMemory> memory_;
};

void begin_initcheck(const std::string& name) {
  const auto memory = std::make_shared<ptx::UnwrittenMemory>();
  watch_memory(name, std::make_shared<WrittenByCalls>(memory));
  observe_launches(name, [memory](const ptx::Kernel&, int) -> std::unique_ptr<ptx::Observer> {
    return std::make_unique<ptx::Initcheck>(findings(), *memory);
  });
}

void begin_racecheck(const std::string& name) {
  observe_launches(name, [](const ptx::Kernel&, int) -> std::unique_ptr<ptx::Observer> {
    return std::make_unique<ptx::Racecheck>(findings());
  });
}

void begin_streamcheck(const std::string& name) {
  follow_stream_order();
  const auto check = std::make_shared<StreamCheck>(findings());
  watch_memory(name, check);
  observe_launches(name, [check](const ptx::Kernel&, int) { return check->observer(); });
}

const std::map<std::string, void (*)(const std::string&)> checks{
    {"initcheck", begin_initcheck}, {"racecheck", begin_racecheck}, {"streamcheck", begin_streamcheck}};

}  // namespace

void check_kernels(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = checks.find(name);
    trigram::require(found != checks.end(), "no check is called '", name,
                     "'; there are initcheck, racecheck and streamcheck");
    found->second(name);
  }
}

void check_no_longer() {
  for (const auto& [name, begin] : checks) {
    observe_no_longer(name);
    watch_memory_no_longer(name);
  }
}

std::vector<std::string> take_findings() { return findings().take(); }

}  // namespace cuda_on_host
