#include "ptx/runtime/nvcc/fat_binary.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/values/error.hpp"

namespace cuda_on_host {
namespace {

struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* binary;
  void* file;
};
struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< of all entries
};
struct Entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  ///< behind the header
};
constexpr std::uint32_t wrapper_magic = 0x466243b1, header_magic = 0xba55ed50;
constexpr std::uint16_t kind_ptx = 1;

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

std::string ptx_of(const void* fat_binary, int capability) {
  const auto wrapper = read<Wrapper>(static_cast<const std::byte*>(fat_binary));
  const auto header = read<Header>(wrapper.binary);
  trigram::require(wrapper.magic == wrapper_magic && header.magic == header_magic,
                   "an object registers code for GPUs in a form that nvcc 12 and 13 do not write");
  const std::string target = ".target sm_" + std::to_string(capability) + "\n";
  const std::byte* at = wrapper.binary + header.header_bytes;
  for (const std::byte* const end = at + header.bytes; at < end;) {
    const auto entry = read<Entry>(at);
    const std::byte* const content = at + entry.header_bytes;
    at = content + entry.bytes;
    if (entry.kind != kind_ptx) continue;
    const std::string text(reinterpret_cast<const char*>(content), entry.bytes);
    trigram::require(text.find(".version") != std::string::npos,
                     "the PTX of an object is compressed: compile it with nvcc's --no-compress");
    if (capability == 0 || text.find(target) != std::string::npos) return text.substr(0, text.find('\0'));
  }
  const std::string wanted = "compute_" + std::to_string(capability == 0 ? 75 : capability);
  throw trigram::UsageError("an object has no PTX for " + wanted + ": compile it with nvcc's -gencode arch=" + wanted +
                            ",code=" + wanted);
}

}  // namespace cuda_on_host
