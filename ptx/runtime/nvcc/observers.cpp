#include "ptx/runtime/nvcc/observers.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "ptx/observers.hpp"

namespace cuda_on_host {
namespace {

namespace ptx = trigram::ptx;

struct Observing {
  std::mutex mutex;  ///< guards what follows
  std::map<std::string, MakeObserver> makers;
};
Observing& observing() {
  static auto* const the = new Observing;  // streams' threads may outlive main
  return *the;
}

}  // namespace

void observe_launches(const std::string& name, MakeObserver make) {
  const std::lock_guard lock(observing().mutex);
  observing().makers[name] = std::move(make);
}

void observe_no_longer(const std::string& name) {
  const std::lock_guard lock(observing().mutex);
  observing().makers.erase(name);
}

std::unique_ptr<ptx::Observer> observer_of(const ptx::Kernel& kernel, int device) {
  const std::lock_guard lock(observing().mutex);
  std::vector<std::unique_ptr<ptx::Observer>> observers;
  for (const auto& [name, make] : observing().makers) {
    if (auto observer = make(kernel, device)) observers.push_back(std::move(observer));
  }
  if (observers.empty()) return nullptr;
  if (observers.size() == 1) return std::move(observers.front());
  return std::make_unique<ptx::Observers>(std::move(observers));
}

}  // namespace cuda_on_host
