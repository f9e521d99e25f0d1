// Steps of optimizers on memory of the caller, as functions of C: no session, no other rank.
#include <cstdint>
#include <vector>

#include "core/device/device.hpp"
#include "kernels/cpu/kernels.hpp"
#include "python/session/answer.hpp"
#include "python/session/surface.hpp"

namespace trigram {
namespace {

/// Of a thread that is no rank's: its time is nobody's.
struct Bench {
  Timeline timeline{[] { return 0.0; }, false};
  Device device{cpu_kernels(), timeline};
};

Device& device_of_this_thread() {
  thread_local Bench bench;
  return bench.device;
}

Buffer floats(std::uint64_t number, std::int64_t count) { return {address(number), Shape::of(count, DType::f32)}; }

}  // namespace
}  // namespace trigram

int trigram_sgd_step(const std::uint64_t* weights, const std::uint64_t* gradients, const std::uint64_t* velocities,
                     const std::int64_t* counts, int tensors, double learning_rate, double momentum, double dampening,
                     double weight_decay, int nesterov, int first_step) {
  return trigram::answer([&] {
    std::vector<trigram::SgdTensor> all;
    for (int i = 0; i < tensors; ++i) {
      all.push_back({trigram::floats(weights[i], counts[i]), trigram::floats(gradients[i], counts[i]),
                     trigram::floats(momentum == 0 ? weights[i] : velocities[i], counts[i])});
    }
    trigram::device_of_this_thread().sgd(all, {.learning_rate = static_cast<float>(learning_rate),
                                               .momentum = static_cast<float>(momentum),
                                               .dampening = static_cast<float>(dampening),
                                               .weight_decay = static_cast<float>(weight_decay),
                                               .nesterov = nesterov != 0,
                                               .first_step = first_step != 0});
  });
}

int trigram_adam_step(const std::uint64_t* weights, const std::uint64_t* gradients, const std::uint64_t* first,
                      const std::uint64_t* second, const std::int64_t* counts, int tensors, double learning_rate,
                      double beta1, double beta2, double epsilon, double weight_decay, std::int64_t step,
                      int decoupled) {
  return trigram::answer([&] {
    std::vector<trigram::AdamTensor> all;
    for (int i = 0; i < tensors; ++i) {
      all.push_back({trigram::floats(weights[i], counts[i]), trigram::floats(gradients[i], counts[i]),
                     trigram::floats(first[i], counts[i]), trigram::floats(second[i], counts[i])});
    }
    trigram::device_of_this_thread().adam(all, {.learning_rate = static_cast<float>(learning_rate),
                                                .beta1 = static_cast<float>(beta1),
                                                .beta2 = static_cast<float>(beta2),
                                                .epsilon = static_cast<float>(epsilon),
                                                .weight_decay = static_cast<float>(weight_decay),
                                                .step = step,
                                                .decoupled = decoupled != 0});
  });
}
