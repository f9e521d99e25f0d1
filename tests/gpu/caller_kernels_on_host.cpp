// The same kernels for the double.
#include "tests/gpu/caller_kernels.cu"  // NOLINT(bugprone-suspicious-include): compiled as C++
