#include "ptx/runtime/memory_watch.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace cuda_on_host {
namespace {

class AllWatches : public MemoryWatch {
 public:
  void set(const std::string& name, std::shared_ptr<MemoryWatch> watch) {
    const std::lock_guard lock(mutex_);
    watches_[name] = std::move(watch);
  }
  void erase(const std::string& name) {
    const std::lock_guard lock(mutex_);
    watches_.erase(name);
  }

  void allocated(const void* address, std::size_t bytes) override {
    tell([&](MemoryWatch& one) { one.allocated(address, bytes); });
  }
  void freed(const void* address, std::size_t bytes) override {
    tell([&](MemoryWatch& one) { one.freed(address, bytes); });
  }
  void reads(const void* address, std::size_t bytes, const char* call) override {
    tell([&](MemoryWatch& one) { one.reads(address, bytes, call); });
  }
  void writes(const void* address, std::size_t bytes, const char* call) override {
    tell([&](MemoryWatch& one) { one.writes(address, bytes, call); });
  }
  void copies(const void* to, const void* from, std::size_t bytes, const char* call) override {
    tell([&](MemoryWatch& one) { one.copies(to, from, bytes, call); });
  }

 private:
  template <class Tell>
  void tell(Tell tell_one) {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, watch] : watches_) tell_one(*watch);
  }

  std::mutex mutex_;  ///< guards what follows
  std::map<std::string, std::shared_ptr<MemoryWatch>> watches_;
};

AllWatches& all() {
  static auto* const the = new AllWatches;  // outlives every stream's thread
  return *the;
}

}  // namespace

void watch_memory(const std::string& name, std::shared_ptr<MemoryWatch> watch) { all().set(name, std::move(watch)); }
void watch_memory_no_longer(const std::string& name) { all().erase(name); }
MemoryWatch& memory_watches() { return all(); }

}  // namespace cuda_on_host
