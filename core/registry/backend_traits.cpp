#include "core/registry/backend_traits.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/values/error.hpp"

namespace trigram {
namespace {

std::map<std::string, BackendTraits>& registered() {
  static std::map<std::string, BackendTraits> all;
  return all;
}

}  // namespace

BackendTraits::Registration::Registration(const std::string& backend, BackendTraits traits) {
  ensure(registered().emplace(backend, std::move(traits)).second,
         "the traits of backend '" + backend + "' are registered twice");
}

const BackendTraits& BackendTraits::of(const std::string& backend) {
  static const BackendTraits none;
  const auto found = registered().find(backend);
  return found == registered().end() ? none : found->second;
}

std::vector<BackendFlag> backend_flags() {
  std::vector<BackendFlag> all;
  for (const auto& [backend, traits] : registered()) {
    for (const BackendFlag& flag : traits.flags) {
      if (std::ranges::find(all, flag.name, &BackendFlag::name) == all.end()) all.push_back(flag);
    }
  }
  return all;
}

}  // namespace trigram
