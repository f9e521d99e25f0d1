#include "core/primitives/gradient_mean.hpp"

#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

Shape of_type(DType type, Shape shape) {
  shape.dtype = type;
  return shape;
}

}  // namespace

void gradient_mean(Worker& lane, Buffer x) {
  as_gradients_travel(lane, x, [&](Buffer travelling) { centralized_full_precision(lane, travelling); });
}

void as_gradients_travel(Worker& lane, Buffer x, const std::function<void(Buffer)>& average) {
  const DType type = lane.relaxation.gradients;
  if (type == x.dtype() || lane.world_size() == 1) return average(x);
  const OwnedBuffer cast = lane.device.allocate_unfilled(of_type(type, x.shape()));
  lane.device.fused(Activity::encode, "cast", [&] { lane.device.convert(x, cast); });
  average(cast);
  lane.device.fused(Activity::decode, "cast", [&] { lane.device.convert(cast, x); });
}

Cost gradient_mean_cost(const CostQuery& query, const Shape& bucket) {
  return centralized_full_precision_cost(query, of_type(query.gradients, bucket));
}

}  // namespace trigram
