// C_LP_S on a modelled device: what has no data costs what data cost.
#include "core/primitives/centralized.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

Operation scatter_reduce(const std::string& codec, const Shape& shape, bool error_feedback,
                         FrameExchange exchange = FrameExchange::scatter_reduce) {
  return [=](RankRuntime& runtime) {
    Worker worker(runtime, 0, Relaxation{});
    const OwnedBuffer memory = worker.device.allocate(Shape::of(shape.phantom ? 0 : shape.count, DType::f32));
    Bucket bucket;
    bucket.gradients = shape.phantom ? Buffer(nullptr, shape) : memory.view();
    CentralizedLowPrecision primitive(worker, bucket, worker.device.make_codec(codec), error_feedback, exchange);
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

/// Seconds of C_LP_S of 56 MB on seven nodes, without codecs.
double seconds_of(FrameExchange exchange, const std::string& more) {
  constexpr std::int64_t count = 14'000'000;
  const Shape phantom{count, DType::f32, count, true};
  const std::string cluster = flat(7, "kernel_launch=0s,gpu_flops=1000PFLOPS,gpu_memory_bandwidth=1000000GB/s" + more);
  return duration(cluster, 7, scatter_reduce("identity", phantom, false, exchange));
}

// Chunks c, frames of whole vectors n·c: 2(α + (n−1)·c·β); α + (n−1)·c·β + (n−1)(α + c·β); (n−1)(α + n·c·β)
TEST(ScatterReduce, TakesTheTimeOfItsMessages) {
  constexpr double chunk = 8e6, n = 7, most_of_codecs = 2e-3;
  const double together = alpha + (n - 1) * chunk * beta;
  for (const std::string fidelity : {",fidelity=exact", ",fidelity=fluid"}) {
    expect_relative(seconds_of(FrameExchange::scatter_reduce, fidelity), 2 * together, most_of_codecs);
    expect_relative(seconds_of(FrameExchange::scatter_reduce_ring, fidelity),
                    together + (n - 1) * (alpha + chunk * beta), most_of_codecs);
    expect_relative(seconds_of(FrameExchange::all_gather, fidelity), (n - 1) * (alpha + n * chunk * beta),
                    most_of_codecs);
  }
}

// A server adds its chunks in one call; without servers each frame is a call of its own.
TEST(ScatterReduce, DecodesEveryFrameWhereWholeFramesAreGathered) {
  const auto decoding = [](FrameExchange exchange) {
    return seconds_of(exchange, ",codec_rates=identity/decode_add/1s/0") - seconds_of(exchange, "");
  };
  EXPECT_NEAR(decoding(FrameExchange::scatter_reduce), 1, 1e-3);
  EXPECT_NEAR(decoding(FrameExchange::all_gather), 7, 1e-3);
}

}  // namespace
}  // namespace trigram::testing
