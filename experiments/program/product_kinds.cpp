#include "experiments/program/product_kinds.hpp"

#include <functional>
#include <map>

#include "core/algorithm.hpp"
#include "core/all_reduce.hpp"
#include "core/codec.hpp"
#include "core/error.hpp"
#include "core/operation.hpp"
#include "core/optimizer.hpp"
#include "core/schedule.hpp"
#include "core/topology.hpp"
#include "core/workload.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

using Names = std::function<std::vector<std::string>()>;

template <class Interface>
std::pair<const std::string, Names> registered() {
  return {Interface::registry_kind, Registry<Interface>::names};
}

/// What a build for GPUs has beside those of the host.
std::vector<std::string> names_of_cuda_codecs() {
  std::vector<std::string> names = Codecs::names();
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("cuda/"); });
  return names;
}

}  // namespace

std::vector<std::string> names_of_kind(const std::string& kind) {
  static const std::map<std::string, Names> all = {registered<Algorithm>(),
                                                   registered<AllReduce>(),
                                                   registered<Codec>(),
                                                   registered<Operation>(),
                                                   registered<Optimizer>(),
                                                   registered<Schedule>(),
                                                   registered<Topology>(),
                                                   registered<Workload>(),
                                                   {"cuda-codec", names_of_cuda_codecs},
                                                   {"cluster", [] { return shipped_names("clusters"); }},
                                                   {"study", [] { return shipped_names("studies"); }}};
  const auto names = all.find(kind);
  ensure(names != all.end(), "nobody says which names there are of kind '", kind, "'");
  return names->second();
}

}  // namespace trigram
