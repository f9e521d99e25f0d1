#include "experiments/program/products/product_kinds.hpp"

#include <functional>
#include <map>

#include "core/device/codec.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/step/algorithm.hpp"
#include "core/step/operation.hpp"
#include "core/step/optimizer.hpp"
#include "core/step/schedule.hpp"
#include "core/step/workload.hpp"
#include "core/topologies/topology.hpp"
#include "core/training/backend.hpp"
#include "core/values/error.hpp"
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
                                                   registered<Backend>(),
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
