// Counts what kernels ask of a GPU while the interpreter runs them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ptx/meter/kernel_counts.hpp"
#include "ptx/observer.hpp"

namespace trigram::ptx {

/// Counts by kernel; launches may run on several threads.
class Meter {
 public:
  /// Observes one launch, whose counts are added when it has ended. The meter outlives it.
  std::unique_ptr<Observer> observer();

  /// What was counted since this was last called, by the kernels' names in PTX.
  std::map<std::string, KernelCounts> take();

 private:
  class Launched;
  void add(const std::string& kernel, const KernelCounts& counts);

  std::mutex mutex_;  ///< guards what follows
  std::map<std::string, KernelCounts> counts_;
};

}  // namespace trigram::ptx
