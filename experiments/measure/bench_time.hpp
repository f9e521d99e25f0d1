// How long an operation of trigram bench takes a rank.
#pragma once

#include "core/lane/worker.hpp"
#include "experiments/measure/bench_op.hpp"

namespace trigram {

/// An operation on one buffer, spread over nodes where a hierarchy says so.
struct BenchCase {
  const BenchOp& op;
  Hierarchy hierarchy = Hierarchy::none;
  std::int64_t elements = 0;  ///< f32
};

/// From when all ranks are there until this one's part is done; `x` and `spare` hold at least that many elements.
double seconds_of(RankRuntime& runtime, const BenchCase& bench, Buffer x, Buffer spare);

/// The same on buffers without memory, for models of time.
double phantom_seconds(RankRuntime& runtime, const BenchCase& bench);

}  // namespace trigram
