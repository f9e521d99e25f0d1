// Work of a rank outside of the moments of TrainingStep, which takes turns itself.
#pragma once

#include "core/worker.hpp"

namespace trigram {

/// Runs `body` within a turn of the runtime. What it throws leaves no turn to give: a rank that has failed orders
/// nothing more, and one that refuses has ordered nothing.
template <class Body>
void in_turn(RankRuntime& runtime, const Body& body) {
  runtime.take_turn();
  body();
  runtime.give_turn();
}

}  // namespace trigram
