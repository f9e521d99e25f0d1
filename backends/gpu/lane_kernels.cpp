#include "backends/gpu/lane_kernels.hpp"

#include "core/values/error.hpp"

namespace trigram::gpu {

void LaneKernels::refuse_inside_a_body(const char* operation) const {
  ensure(!guard_.inside, lane_, ": a lane task called ", operation,
         ", but on a GPU a task is enqueued now and runs later; look at results on the main lane, after wait()");
}

}  // namespace trigram::gpu
