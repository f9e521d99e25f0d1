// The one instance of each all-reduce, which has no state and so serves every rank and thread.
#include "core/all_reduce.hpp"

#include <map>

namespace trigram {

namespace {

using ByName = std::map<std::string, std::unique_ptr<AllReduce>>;

ByName make_all() {
  ByName all;
  for (const std::string& name : AllReduces::names()) all.emplace(name, AllReduces::make(name));
  return all;
}

}  // namespace

const AllReduce& all_reduce_named(const std::string& name) {
  static const ByName all = make_all();
  const auto found = all.find(name);
  if (found == all.end()) throw_unknown_name(AllReduce::registry_kind, name, AllReduces::names());
  return *found->second;
}

}  // namespace trigram
