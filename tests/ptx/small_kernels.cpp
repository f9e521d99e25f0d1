#include "tests/ptx/small_kernels.hpp"

#include <cstring>

namespace trigram::ptx {

std::string small_module(const std::string& body) {
  return R"(.version 9.0
.target sm_75
.address_size 64
.visible .entry tried(
  .param .u64 words
)
{
  .reg .pred %p<9>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
)" + body +
         "\n  ret;\n}\n.file 1 \"tried.cu\"\n";
}

std::byte* BoundedMemory::at(std::uint64_t address, std::size_t bytes, Access) {
  const auto begin = reinterpret_cast<std::uint64_t>(words_.data());
  const std::size_t size = words_.size() * sizeof(std::uint32_t);
  if (address < begin || address - begin > size || size - (address - begin) < bytes)
    throw InvalidAddress("which nobody allocated");
  return reinterpret_cast<std::byte*>(address);
}

std::vector<std::uint32_t> words_after(const std::string& body, Dimensions block, std::size_t words, Schedule schedule,
                                       Dimensions grid, Observer* observer) {
  std::vector<std::uint32_t> memory_words(words);
  BoundedMemory memory(memory_words);
  const std::uint32_t* address = memory_words.data();
  std::byte parameters[sizeof address];
  std::memcpy(parameters, &address, sizeof address);
  const Module module = Module::read(small_module(body), "small.ptx");
  launch(module.kernel("tried"), {.grid = grid, .block = block, .parameters = parameters}, memory, schedule, observer);
  return memory_words;
}

std::string fault_of(const std::string& body, Dimensions block, Schedule schedule) {
  try {
    words_after(body, block, count(block), schedule);
    return {};
  } catch (const Fault& fault) {
    return fault.what();
  }
}

}  // namespace trigram::ptx
