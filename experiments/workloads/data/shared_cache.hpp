// Values that many ranks of one process compute alike: one makes it, the others share it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace trigram {

/// Keeps a value as long as somebody holds it. Any thread may call.
template <class Key, class Value>
class SharedCache {
 public:
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Value> value = values_[key].lock();
    if (value == nullptr) {
      std::erase_if(values_, [](const auto& entry) { return entry.second.expired(); });
      value = std::make_shared<const Value>(make());
      values_[key] = value;
    }
    return value;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Value>> values_;
};

}  // namespace trigram
