// One tensor and nothing to compute: a step is one exchange of it, as a benchmark of collectives times them.
#include "core/values/error.hpp"
#include "experiments/workloads/profile.hpp"

namespace trigram {
namespace {

/// A layer that takes no time, with one vector of so many bytes.
std::shared_ptr<const ProfileTable> table_of(double bytes) {
  const auto count = static_cast<std::int64_t>(bytes) / size_of(DType::f32);
  require(count >= 1, "workload 'tensor': size has no element; give at least 4B");
  ProfileTable table;
  table.name = "tensor";
  table.file = "built in";
  table.compute_seconds = 0;
  table.layers = {{.name = "tensor", .forward_flops = 1, .backward_flops = 1}};
  Parameter parameter = whole_parameter("tensor", {count}, 0);
  parameter.count = 0;
  table.parameters = {parameter};
  return std::make_shared<const ProfileTable>(table);
}

const Workloads::Registration registered(
    "tensor", {"one tensor, and no compute: a step is its exchange alone"}, [](Params& params) {
      return std::make_unique<Profile>(table_of(params.get("size", "4MiB", Unit::message_bytes, "of the tensor")),
                                       params);
    });

}  // namespace
}  // namespace trigram
