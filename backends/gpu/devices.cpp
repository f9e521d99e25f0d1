#include "backends/gpu/devices.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstdio>

#include "core/values/error.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "meeting/local_ranks.hpp"
#include "processes/child_process.hpp"

namespace trigram::gpu {
namespace {

/// "2", or why there is none.
Bytes count_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return bytes_of(cudaGetErrorString(status));
  return bytes_of(count == 0 ? "no CUDA-capable device is detected" : std::to_string(count));
}

std::string text_of_uuid(const cudaDeviceProp& properties) {
  std::string text = "GPU-";
  std::array<char, 3> hexadecimal{};
  for (const char byte : properties.uuid.bytes) {
    std::snprintf(hexadecimal.data(), hexadecimal.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text += hexadecimal.data();
  }
  return text;
}

int count_once() {
  const std::string answer = text_of(run_in_child("a process that was asked for GPUs", count_devices));
  const bool number = answer.find_first_not_of("0123456789") == std::string::npos;
  require(number, "no CUDA device: " + answer +
                      "; backend 'gpu' needs an NVIDIA GPU and its driver (nvidia-smi shows "
                      "what there is, CUDA_VISIBLE_DEVICES may hide it)");
  return std::stoi(answer);
}

}  // namespace

int device_count() {
  static const int count = count_once();
  return count;
}

int current_device() {
  int device = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

void take_device(int device, RankLocation& location) {
  cuda::check(cudaSetDevice(device), "cudaSetDevice " + std::to_string(device));
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  location.device = text_of_uuid(properties);
  location.device_name = properties.name;
}

std::string driver_version() {
  constexpr int major = 1000, minor = 10;
  int version = 0;
  cuda::check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return std::to_string(version / major) + "." + std::to_string(version % major / minor);
}

}  // namespace trigram::gpu
