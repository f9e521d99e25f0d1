// The same kernels for the double.
#include "tests/gpu/meeting_kernels.cu"  // NOLINT(bugprone-suspicious-include): compiled as C++
