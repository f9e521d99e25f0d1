// What a kernel did wrong while it ran.
#pragma once

#include <stdexcept>

namespace trigram::ptx {

/// A kernel broke a rule of PTX while it ran. The message begins with the check that found it, named as
/// compute-sanitizer names its tools ("memcheck: ...", "synccheck: ..."), and gives the instruction, the kernel, the
/// line of the source, the block, and the thread, with an address where there is one.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace trigram::ptx
