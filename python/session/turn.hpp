// Work of a rank outside of the hooks of TrainingStep, which takes turns itself.
#pragma once

#include "core/lane/worker.hpp"
#include "core/values/error.hpp"

namespace trigram {

/// Runs `body` within a turn of the runtime, which is given also where the body refuses; a rank that has failed orders
/// nothing more.
template <class Body>
void in_turn(RankRuntime& runtime, const Body& body) {
  runtime.take_turn();
  try {
    body();
  } catch (const UsageError&) {
    runtime.give_turn();
    throw;
  }
  runtime.give_turn();
}

}  // namespace trigram
