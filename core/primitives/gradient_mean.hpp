// The mean of gradients over ranks, in the type in which a run lets them travel.
#pragma once

#include <functional>

#include "core/lane/worker.hpp"
#include "core/step/algorithm.hpp"

namespace trigram {

/// C_FP_S of gradients: x ← mean over ranks of x. Where the run's gradients are of 16 bits, x is cast, the vector that
/// travels and is added is of 16 bits, and x is cast back: each addition is computed in f32 and rounded to nearest
/// even, as NCCL adds f16 and bf16, and the sum is divided at the end, so that a sum beyond 65504 is infinite in f16.
void gradient_mean(Worker& lane, Buffer x);
/// Rounds and bytes of one such call.
Cost gradient_mean_cost(const CostQuery& query, const Shape& bucket);

/// Gives `average` the gradients x as they travel: x itself, or a cast of it, which is cast back.
void as_gradients_travel(Worker& lane, Buffer x, const std::function<void(Buffer)>& average);

}  // namespace trigram
