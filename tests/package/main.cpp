// Trains a quadratic on four simulated ranks with the project's own algorithm, checks what came out, and tries
// algorithm and codec as `trigram check` does those of the tree.
#include <cstdio>
#include <exception>

#include "core/conformance/algorithm_check.hpp"
#include "core/conformance/codec_check.hpp"
#include "core/training/backend.hpp"
#include "core/training/training.hpp"

namespace {

using namespace trigram;

Training train_with(const char* algorithm) {
  World world;
  world.ranks = 4;
  TrainingOptions options;
  options.algorithm = algorithm;
  options.workload = "quadratic";
  options.steps = 1;
  options.learning_rate = 0.1;
  options.keep_weights = true;
  return run_training(*Backends::make("sim"), world, options);
}

/// Weights start at 0, so that after one step they are proportional to the damping, exactly for a power of two.
bool halves(const Training& half, const Training& whole) {
  bool moved = false;
  for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
    const auto& expected = whole.ranks[rank].weights;
    const auto& found = half.ranks[rank].weights;
    for (std::size_t tensor = 0; tensor < expected.size(); ++tensor) {
      for (std::size_t i = 0; i < expected[tensor].size(); ++i) {
        if (found[tensor][i] != 0.5F * expected[tensor][i]) return false;
        moved = moved || found[tensor][i] != 0;
      }
    }
  }
  return moved;
}

/// How many trials hold; what does not is printed.
int held_trials() {
  const auto simulator = Backends::make("sim");
  int held = 0;
  for (const std::string& spec : trial_specs("shortened_average")) {
    const Tried tried = try_algorithm(spec, {*simulator}, 3);
    std::printf("%s", text_of(tried.violations, spec + ": ").c_str());
    held += tried.violations.empty() ? 1 : 0;
  }
  std::printf("%s", text_of(untried_parameters("shortened_average"), "").c_str());
  return held;
}

int held_sizes_of_the_codec() {
  int held = 0;
  for (const TriedCodec& tried : try_codec("upper_bits", *Backends::make("sim"))) {
    std::printf("%s", text_of(tried.violations, "codec: ").c_str());
    held += tried.violations.empty() ? 1 : 0;
  }
  return held;
}

}  // namespace

int main() {
  try {
    const Training whole = train_with("shortened_average");
    const Training half = train_with("shortened_average:damping=0.5");
    std::printf("%zu ranks, %.9f simulated seconds, %s\n", half.ranks.size(), half.seconds,
                halves(half, whole) ? "half the step" : "another step");
    std::printf("%d trials hold, and %d sizes of the codec\n", held_trials(), held_sizes_of_the_codec());
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}
