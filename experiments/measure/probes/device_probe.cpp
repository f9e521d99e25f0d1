#include "experiments/measure/probes/device_probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/device/codec.hpp"

namespace trigram {
namespace {

/// A sample lasts until it has touched or computed so much, so that ranks that share a core take turns within it.
constexpr double traffic_of_sample = 32.0 * (1 << 20);
constexpr double flops_of_sample = 1e9;
constexpr double most_calls_of_sample = 2000;

constexpr std::int64_t vector_counts[] = {1, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
constexpr std::int64_t matrix_sides[] = {256, 512};

struct ProbedOperation {
  DeviceSample sample;
  std::function<void()> run;
};

/// The operations with the memory that they work on.
class Bench {
 public:
  Bench(Device& device, bool phantom) : device_(device), codec_(device.make_codec("minmax_uint8")) {
    const std::int64_t most = *std::max_element(std::begin(vector_counts), std::end(vector_counts));
    for (OwnedBuffer* buffer : {&x_, &y_, &z_}) *buffer = device.allocate({most, DType::f32, most, phantom});
    frame_ = device.allocate(codec_->encoded_shape(x_.view().shape()));
    device.fill(x_, 1);
    for (const std::int64_t count : vector_counts) add_vectors(count);
    for (const std::int64_t side : matrix_sides) add_product(side);
  }

  const std::vector<ProbedOperation>& operations() const { return operations_; }

 private:
  void add(const char* name, DeviceLimit limit, double amount, std::function<void()> run) {
    operations_.push_back({{name, limit, amount}, std::move(run)});
  }

  void add_vectors(std::int64_t count) {
    const Buffer x = x_.view().slice(0, count), y = y_.view().slice(0, count);
    const Buffer frame = frame_.view().slice(0, codec_->encoded_bytes(count));
    const auto bytes = static_cast<double>(x.modelled_bytes());
    const auto limit = DeviceLimit::memory;
    add("copy", limit, 2 * bytes, [this, x, y] { device_.copy(x, y); });
    add("axpby", limit, 3 * bytes, [this, x, y] { device_.axpby(0.5F, x, 0.5F, y); });
    add("sgd", limit, 3 * bytes,
        [this, x, y] { device_.sgd({.weights = y, .gradients = x, .velocity = {}}, {.learning_rate = 1e-6F}); });
    add("encode", limit, codec_->traffic(count).encode, [this, x, frame] { codec_->encode(device_, x, frame, {}); });
    add("decode", limit, codec_->traffic(count).decode, [this, y, frame] { codec_->decode(device_, frame, y, {}); });
  }

  void add_product(std::int64_t side) {
    const Buffer a = x_.view().slice(0, side * side), b = y_.view().slice(0, side * side),
                 c = z_.view().slice(0, side * side);
    const auto n = static_cast<double>(side);
    add("gemm", DeviceLimit::arithmetic, 2 * n * n * n,
        [this, side, a, b, c] { device_.gemm({.m = side, .n = side, .k = side}, a, b, c); });
  }

  Device& device_;
  std::unique_ptr<Codec> codec_;
  OwnedBuffer x_, y_, z_, frame_;
  std::vector<ProbedOperation> operations_;
};

double repetitions(const DeviceSample& sample) {
  const double wanted = sample.limit == DeviceLimit::memory ? traffic_of_sample : flops_of_sample;
  return std::clamp(std::floor(wanted / sample.amount), 1.0, most_calls_of_sample);
}

}  // namespace

DeviceTimes probe_device(RankRuntime& runtime, int rounds, bool phantom) {
  Lane& lane = runtime.lane(0);
  const Bench bench(*lane.device, phantom);
  DeviceTimes times;
  for (const ProbedOperation& operation : bench.operations()) times.samples.push_back(operation.sample);
  for (int round = 0; round < rounds; ++round) {
    for (const ProbedOperation& operation : bench.operations()) {
      lane.comm->barrier();
      operation.run();  // brings code and data close
      lane.device->synchronize();
      const double count = repetitions(operation.sample);
      const double begin = runtime.now();
      for (double i = 0; i < count; ++i) operation.run();
      lane.device->synchronize();
      times.seconds.push_back((runtime.now() - begin) / count);
    }
  }
  return times;
}

}  // namespace trigram
