// A test double of CUDA's runtime: what nvcc and libcudart give, on one host core, so that kernels and backends run
// where no GPU is. Found before the real header of this name by tests only; compile .cu files as C++ with it.
//
// - Memory is host memory of exactly the size asked for, filled with 0xCD when its stream comes to it. What is freed is
//   filled with 0xDD and kept for a while: copies, messages and kernels that are given it are found, and who writes it.
//   Under AddressSanitizer it is gone at once.
//   With CUDA_ON_HOST_MEMORY=any in the environment the host's own memory is device memory too, for those who have no
//   other, as tensors of a PyTorch for CPUs. CUDA_ON_HOST_DEVICES says how many devices there are.
// - A stream executes at once, in the caller, which waits where the stream does; or, when asked to (control.hpp),
// later,
//   in a thread of its own, so that a missing order between streams or a buffer freed too early shows. The default
//   stream, a null pointer, executes at once always.
// - A kernel's blocks run one after another; the threads of a block are fibers that switch at barriers and shuffles.
//   Their order changes from launch to launch, so that a missing barrier shows.
// - Host memory is read when the copy from it runs, and must be then what it was when the copy was ordered.
// - Where a test says so, a call that waits for the whole device is found (control.hpp).
// What it cannot show: speed, weak memory, alignment faults outside UBSan.
#pragma once

#include "tests/support/cuda_on_host/cuda_runtime_api.h"
#include "tests/support/cuda_on_host/language.hpp"
#include "tests/support/cuda_on_host/launch.hpp"
