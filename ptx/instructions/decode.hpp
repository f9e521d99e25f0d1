// All instructions that the interpreter knows.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// Decodes an instruction by its opcode. Throws UsageError for one that is not known, whole or in part.
Instruction decode(Decoding& decoding);

}  // namespace trigram::ptx
