// C_LP_S on a modelled device: what has no data costs what data cost.
#include "core/primitives/centralized.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

Operation scatter_reduce(const std::string& codec, const Shape& shape, bool error_feedback) {
  return [=](RankRuntime& runtime) {
    Worker worker(runtime, 0, Relaxation{});
    const OwnedBuffer memory = worker.device.allocate(Shape::of(shape.phantom ? 0 : shape.count, DType::f32));
    Bucket bucket;
    bucket.gradients = shape.phantom ? Buffer(nullptr, shape) : memory.view();
    CentralizedLowPrecision primitive(worker, bucket, worker.device.make_codec(codec), error_feedback);
    primitive.average(worker, bucket.gradients);
  };
}

TEST(ScatterReduce, TakesAsLongWithoutData) {
  const std::string cluster = flat(7, "kernel_launch=0s,gpu_memory_bandwidth=1MB/s");  // so that codecs take the time
  for (const char* codec : {"minmax_uint8", "one_bit", "identity"}) {
    for (const std::int64_t count : {0, 5, 700, 1003}) {
      for (const bool error_feedback : {false, true}) {
        const Shape data = Shape::of(count, DType::f32);
        const double seconds = duration(cluster, 7, scatter_reduce(codec, data, error_feedback));
        const Shape phantom{count, DType::f32, count, true};
        expect_relative(duration(cluster, 7, scatter_reduce(codec, phantom, error_feedback)), seconds, 1e-9,
                        std::string(codec) + " of " + std::to_string(count));
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing
