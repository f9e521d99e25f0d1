// KERNELS_ON_PTX_BLOCKS=1 or 1056: how many blocks of a kernel the device holds at once, as a GPU of no size, whose
// threads go round in every loop, and one that has more of them than most cases have work for.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "ptx/runtime/control.hpp"

namespace {

const bool is_sized = [] {
  const char* const named = std::getenv("KERNELS_ON_PTX_BLOCKS");
  if (named == nullptr) return false;
  const int blocks = std::stoi(named);
  if (blocks < 1) throw std::invalid_argument("KERNELS_ON_PTX_BLOCKS=" + std::string(named) + " is less than one");
  cuda_on_host::set_resident_blocks(blocks);
  return true;
}();

}  // namespace
