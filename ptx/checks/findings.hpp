// What checks have found that does not end a kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace trigram::ptx {

/// Messages, each said once for all threads that do the same. Launches may add to it at once.
class Findings {
 public:
  /// What the message is about: findings that are the same in it are one.
  using About = std::tuple<std::string, std::uint32_t, std::uint32_t>;

  /// `heard` is called with each new message.
  explicit Findings(std::function<void(const std::string&)> heard = {}) : heard_(std::move(heard)) {}

  /// Adds what say() returns, unless something was added about that before.
  template <class Say>
  void add(About about, Say say) {
    const std::lock_guard lock(mutex_);
    if (!known_.insert(std::move(about)).second) return;
    messages_.push_back(say());
    if (heard_) heard_(messages_.back());
  }

  /// Returns and forgets all messages.
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    known_.clear();
    return std::exchange(messages_, {});
  }

 private:
  std::function<void(const std::string&)> heard_;
  std::mutex mutex_;  ///< guards what follows
  std::set<About> known_;
  std::vector<std::string> messages_;
};

}  // namespace trigram::ptx
