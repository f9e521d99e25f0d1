// Logic, shifts, and what takes words apart.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// and, or, xor, not, of words and of predicates; cnot.
void decode_logic(Decoding& decoding);
/// shl, shr.
void decode_shift(Decoding& decoding);
/// Two words as one that is shifted: shf.
void decode_funnel_shift(Decoding& decoding);
/// popc, clz, bfind, brev.
void decode_bit_count(Decoding& decoding);
/// bfe, bfi.
void decode_bit_field(Decoding& decoding);
/// Any logic of three words: lop3.
void decode_logic_of_three(Decoding& decoding);
/// Bytes of two words in any order: prmt.
void decode_permute(Decoding& decoding);

}  // namespace trigram::ptx
