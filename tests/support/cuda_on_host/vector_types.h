// Types of CUDA that have several numbers, with CUDA's names and layouts (see cuda_runtime.h).
#pragma once

struct alignas(8) uint2 {
  unsigned x, y;
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)  // NOLINT(google-explicit-constructor): as CUDA's
      : x(x_size), y(y_size), z(z_size) {}
};
