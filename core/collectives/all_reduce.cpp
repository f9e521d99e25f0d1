// The one instance of each all-reduce, which has no state and so serves every rank and thread.
#include "core/lane/all_reduce.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace trigram {

const AllReduce& all_reduce_named(const std::string& spec) {
  static std::mutex one_at_a_time;
  static std::map<std::string, std::unique_ptr<AllReduce>> all;
  const std::lock_guard lock(one_at_a_time);
  const auto found = all.find(spec);
  if (found != all.end()) return *found->second;
  return *all.emplace(spec, AllReduces::make(spec)).first->second;
}

const AllReduce& Communicator::all_reduce_algorithm() const {
  static const AllReduce* const ring = &all_reduce_named("ring");
  return all_reduce_ != nullptr ? *all_reduce_ : *ring;
}

}  // namespace trigram
