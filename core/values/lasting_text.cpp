#include "core/values/lasting_text.hpp"

#include <mutex>
#include <set>

namespace trigram {

const char* lasting_text(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return texts.insert(text).first->c_str();
}

}  // namespace trigram
