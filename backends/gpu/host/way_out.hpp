// How a rank whose job goes on without it, or without another, leaves what it waits for.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

namespace trigram::gpu {

/// Any thread may ask for it; the watchdog opens it, and then every wait of the host ends, and what the device has
/// computed since counts for nothing.
class WayOut {
 public:
  /// The first reason counts.
  void ask(const std::string& reason);
  /// Why somebody asks; empty: nobody does.
  std::string asked() const;
  /// Before anything is aborted: who finds it shut after a wait has waited for what was done well.
  void open(const std::string& reason);
  bool is_open() const { return open_; }
  /// Throws BackendError with the reason once it is open.
  void require_shut() const;

 private:
  mutable std::mutex mutex_;
  std::string asked_, why_;
  std::atomic<bool> open_ = false;
};

}  // namespace trigram::gpu
