// Elementwise operations, sums and optimizers of the benchmark, with their f64 references.
#include <cmath>

#include "tests/benchmarks/cuda/bench.hpp"

namespace trigram::bench {
namespace {

constexpr double vector_target = 0.90;

/// A case over f32 vectors: `run(x)` orders the operation on four buffers, `reference(x, i)` is what element i of
/// buffer `result` should be, from the values before.
Case element_case(Bench& bench, const std::string& name, int touched, double target, int result, double roundings,
                  const std::function<void(const std::vector<Buffer>&)>& run,
                  const std::function<double(const std::vector<Floats>&, std::size_t)>& reference) {
  Case made;
  made.name = name;
  made.elements = bench.elements();
  made.bytes = 4.0 * touched * static_cast<double>(bench.elements());
  made.target = target;
  made.run = [&bench, run](std::int64_t) { run({bench.vector(0), bench.vector(1), bench.vector(2), bench.vector(3)}); };
  made.deviation = [&bench, run, reference, result, roundings] {
    std::vector<Floats> before;
    std::vector<OwnedBuffer> owned;
    for (int i = 0; i < 4; ++i) {
      before.push_back(bench.fresh(bench.checked()));
      if (i == 3) {
        for (float& value : before.back()) value = std::abs(value);  // second moments
      }
      owned.push_back(bench.hold(before.back()));
    }
    run({owned[0], owned[1], owned[2], owned[3]});
    std::vector<double> expected;
    for (std::size_t i = 0; i < before[0].size(); ++i) expected.push_back(reference(before, i));
    return deviation(bench.values(owned[static_cast<std::size_t>(result)]), expected, roundings);
  };
  return made;
}

double at(const std::vector<Floats>& x, int which, std::size_t i) {
  return static_cast<double>(x[static_cast<std::size_t>(which)][i]);
}

void add_arithmetic(Bench& bench, std::vector<Case>& cases) {
  Device& device = bench.device();
  cases.push_back(element_case(
      bench, "fill", 1, 0, 2, 0.5, [&](const auto& x) { device.fill(x[2], 1.25); },
      [](const auto&, std::size_t) { return 1.25; }));
  cases.push_back(element_case(
      bench, "scale", 2, 0, 2, 1, [&](const auto& x) { device.scale(x[2], 0.75F); },
      [](const auto& x, std::size_t i) { return 0.75 * at(x, 2, i); }));
  cases.push_back(element_case(
      bench, "axpby", 3, vector_target, 1, 4, [&](const auto& x) { device.axpby(0.5F, x[0], 0.75F, x[1]); },
      [](const auto& x, std::size_t i) { return 0.5 * at(x, 0, i) + 0.75 * at(x, 1, i); }));
  cases.push_back(element_case(
      bench, "reduce sum", 3, vector_target, 1, 1, [&](const auto& x) { device.reduce(ReduceOp::sum, x[0], x[1]); },
      [](const auto& x, std::size_t i) { return at(x, 0, i) + at(x, 1, i); }));
  cases.push_back(element_case(
      bench, "average of 3", 4, vector_target, 3, 4,
      [&](const auto& x) {
        device.weighted_sum(std::vector{x[0], x[1], x[2]}, std::vector{0.25F, 0.5F, 0.25F}, x[3]);
      },
      [](const auto& x, std::size_t i) { return 0.25 * at(x, 0, i) + 0.5 * at(x, 1, i) + 0.25 * at(x, 2, i); }));
}

void add_dot(Bench& bench, std::vector<Case>& cases) {
  const auto result = std::make_shared<OwnedBuffer>(bench.hold({0.0F}));
  Case made{"dot", 8.0 * static_cast<double>(bench.elements()), 0, {}, {}, {}};
  made.elements = bench.elements();
  made.run = [&bench, result](std::int64_t) { bench.device().dot(bench.vector(0), bench.vector(1), *result); };
  made.deviation = [&bench, result] {
    const Floats x = bench.fresh(bench.checked()), y = bench.fresh(bench.checked());
    bench.device().dot(bench.hold(x), bench.hold(y), *result);
    double expected = 0;
    for (std::size_t i = 0; i < x.size(); ++i) expected += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    return deviation(bench.values(*result), {expected}, 1);
  };
  cases.push_back(made);
}

/// PyTorch's definitions in f64; `decay` is coupled unless `decoupled`.
double adam_reference(const std::vector<Floats>& x, std::size_t i, const AdamConstants& c) {
  double weight = at(x, 0, i);
  const double decay = static_cast<double>(c.weight_decay);
  const double gradient = at(x, 1, i) + (c.decoupled ? 0.0 : decay * weight);
  const double beta1 = static_cast<double>(c.beta1), beta2 = static_cast<double>(c.beta2);
  const double first = beta1 * at(x, 2, i) + (1 - beta1) * gradient;
  const double second = beta2 * at(x, 3, i) + (1 - beta2) * gradient * gradient;
  const auto step = static_cast<double>(c.step);
  const double rate = static_cast<double>(c.learning_rate);
  if (c.decoupled) weight -= rate * decay * weight;
  const double root = std::sqrt(second / (1 - std::pow(beta2, step))) + static_cast<double>(c.epsilon);
  return weight - rate * first / (1 - std::pow(beta1, step)) / root;
}

void add_optimizers(Bench& bench, std::vector<Case>& cases) {
  Device& device = bench.device();
  cases.push_back(element_case(
      bench, "sgd", 3, vector_target, 0, 4,
      [&](const auto& x) {
        device.sgd({x[0], x[1], {}}, {.learning_rate = 0.01F, .weight_decay = 0.1F});
      },
      [](const auto& x, std::size_t i) { return at(x, 0, i) - 0.01 * (at(x, 1, i) + 0.1 * at(x, 0, i)); }));
  cases.push_back(element_case(
      bench, "momentum", 5, vector_target, 0, 6,
      [&](const auto& x) {
        device.sgd({x[0], x[1], x[2]}, {.learning_rate = 0.01F, .momentum = 0.9F, .weight_decay = 0.1F});
      },
      [](const auto& x, std::size_t i) {
        return at(x, 0, i) - 0.01 * (0.9 * at(x, 2, i) + at(x, 1, i) + 0.1 * at(x, 0, i));
      }));
  for (const bool decoupled : {false, true}) {
    const AdamConstants constants{.learning_rate = 1e-3F, .weight_decay = 0.1F, .step = 7, .decoupled = decoupled};
    const auto reference = [constants](const auto& x, std::size_t i) { return adam_reference(x, i, constants); };
    // A quotient by the root of a small second moment enlarges what its rounding errs.
    cases.push_back(element_case(
        bench, decoupled ? "adamw" : "adam", 7, vector_target, 0, 64,
        [&device, constants](const auto& x) {
          device.adam({x[0], x[1], x[2], x[3]}, constants);
        },
        reference));
    if (decoupled) continue;
    cases.push_back(element_case(
        bench, "adam, 1000 tensors", 7, 0, 0, 64,
        [&device, constants](const auto& x) {
          std::vector<AdamTensor> tensors;
          for (int t = 0; t < 1000; ++t) {
            const auto part = [&](int which) { return x[static_cast<std::size_t>(which)].chunk(t, 1000); };
            tensors.push_back({part(0), part(1), part(2), part(3)});
          }
          device.adam(tensors, constants);
        },
        reference));
  }
}

}  // namespace

void add_element_cases(Bench& bench, std::vector<Case>& cases) {
  add_arithmetic(bench, cases);
  add_dot(bench, cases);
  add_optimizers(bench, cases);
}

}  // namespace trigram::bench
