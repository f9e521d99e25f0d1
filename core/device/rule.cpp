#include "core/device/rule.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "core/registry/by_device.hpp"

namespace trigram {

const Rule& rule_on(std::string_view kind, std::string_view name) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::unique_ptr<Rule>> made;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Rule>& rule = made[{std::string(kind), std::string(name)}];
  if (rule == nullptr) rule = make_on<Rule>(kind, name);
  return *rule;
}

const DeviceRules& DeviceRules::of(std::string_view kind) {
  static std::mutex mutex;
  static std::map<std::string, DeviceRules, std::less<>> made;
  const std::lock_guard lock(mutex);
  const auto known = made.find(kind);
  if (known != made.end()) return known->second;
  const auto rule = [kind](const char* name) -> const Rule& { return rule_on(kind, name); };
  const DeviceRules rules{rule("scale"),        rule("axpby"), rule("multiply"),   rule("divide"),
                          rule("divide_whole"), rule("root"),  rule("add_scaled"), rule("sgd"),
                          rule("sgd_momentum"), rule("adam")};
  return made.emplace(kind, rules).first->second;
}

}  // namespace trigram
