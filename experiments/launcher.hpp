// What a launcher told this process about its place among others.
#pragma once

namespace trigram {

/// This process's rank under torchrun, mpirun or srun; 0 when it was started alone. Rank 0 alone prints and writes.
int launched_rank();

}  // namespace trigram
