#include "ptx/execution/lanes.hpp"

#include "core/values/error.hpp"

namespace trigram::ptx {

Where Lanes::where(const Instruction& instruction, std::uint32_t lane) const {
  return {block->kernel, instruction, block->index, block->launch.block, std::uint64_t{first_thread} + lane};
}

void Lanes::fault(const Instruction& instruction, std::uint32_t lane, const char* check,
                  const std::string& what) const {
  fail_with<Fault>(check, ": ", what, " at ", [&] { return in_words(where(instruction, lane)); });
}

}  // namespace trigram::ptx
