#include "ptx/lanes.hpp"

#include "core/error.hpp"

namespace trigram::ptx {

namespace {

std::string in_braces(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return "(" + number_text(x) + "," + number_text(y) + "," + number_text(z) + ")";
}

std::string place_text(const Place& place) {
  const std::string ptx = "line " + number_text(place.line) + " of the PTX";
  if (place.source_file.empty()) return ptx;
  return place.source_file + ":" + number_text(place.source_line) + " (" + ptx + ")";
}

std::string thread_text(Dimensions block, std::uint64_t thread) {
  return in_braces(thread % block.x, thread / block.x % block.y, thread / block.x / block.y);
}

}  // namespace

void Lanes::fault(const Instruction& instruction, std::uint32_t lane, const char* check,
                  const std::string& what) const {
  fail_with<Fault>(check, ": ", what, " at '", instruction.text, "' of kernel ", block->kernel.name, ", ",
                   place_text(instruction.place), ", in block ",
                   in_braces(block->index.x, block->index.y, block->index.z), ", thread ",
                   thread_text(block->launch.block, first_thread + lane));
}

}  // namespace trigram::ptx
