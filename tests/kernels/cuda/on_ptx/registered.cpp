#include "tests/kernels/cuda/on_ptx/registered.hpp"

#include <cstring>

extern "C" {
void** __cudaRegisterFatBinary(void* fat_binary);
void __cudaRegisterFunction(void** object, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
}

namespace trigram::on_ptx {
namespace {

/// As nvcc's: a header of all, then an entry with its own header.
std::vector<char> fat_binary_of(const std::string& ptx) {
  struct Header {
    std::uint32_t magic = 0xba55ed50;
    std::uint16_t version = 1, header_bytes = 16;
    std::uint64_t bytes = 0;
  } header;
  struct Entry {
    std::uint16_t kind = 1, version = 257;
    std::uint32_t header_bytes = 16;
    std::uint64_t bytes = 0;
  } entry;
  entry.bytes = ptx.size() + 1;
  header.bytes = sizeof entry + entry.bytes;
  std::vector<char> binary(sizeof header + header.bytes);
  std::memcpy(binary.data(), &header, sizeof header);
  std::memcpy(binary.data() + sizeof header, &entry, sizeof entry);
  std::memcpy(binary.data() + sizeof header + sizeof entry, ptx.c_str(), entry.bytes);
  return binary;
}

}  // namespace

Registered::Registered(const std::string& ptx, const char* name) : binary_(fat_binary_of(ptx)) {
  wrapper_.binary = binary_.data();
  void** const object = __cudaRegisterFatBinary(&wrapper_);
  __cudaRegisterFunction(object, binary_.data(), nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t Registered::launch(void* address, unsigned threads, cudaStream_t stream) const {
  void* arguments[] = {&address};
  return cudaLaunchKernel(binary_.data(), dim3(1), dim3(threads), arguments, 0, stream);
}

}  // namespace trigram::on_ptx
