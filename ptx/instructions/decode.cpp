#include "ptx/instructions/decode.hpp"

#include <map>

#include "core/values/error.hpp"
#include "ptx/instructions/access.hpp"
#include "ptx/instructions/bits.hpp"
#include "ptx/instructions/compare.hpp"
#include "ptx/instructions/control.hpp"
#include "ptx/instructions/conversion/convert.hpp"
#include "ptx/instructions/floating.hpp"
#include "ptx/instructions/integer.hpp"
#include "ptx/instructions/move.hpp"
#include "ptx/instructions/warp_operations.hpp"

namespace trigram::ptx {

namespace {

void decode_arithmetic(Decoding& d) {
  const Type type = d.take_type();
  is_integer(type) ? decode_integer(d, type) : decode_floating(d, type);
}

using Decode = void (*)(Decoding&);

const std::map<std::string_view, Decode>& decoders() {
  static const std::map<std::string_view, Decode> known = {
      {"add", decode_arithmetic},      {"sub", decode_arithmetic},  {"mul", decode_arithmetic},
      {"mad", decode_arithmetic},      {"fma", decode_arithmetic},  {"sad", decode_arithmetic},
      {"div", decode_arithmetic},      {"rem", decode_arithmetic},  {"abs", decode_arithmetic},
      {"neg", decode_arithmetic},      {"min", decode_arithmetic},  {"max", decode_arithmetic},
      {"sqrt", decode_arithmetic},     {"rcp", decode_arithmetic},  {"ex2", decode_arithmetic},
      {"copysign", decode_arithmetic}, {"and", decode_logic},       {"or", decode_logic},
      {"xor", decode_logic},           {"not", decode_logic},       {"cnot", decode_logic},
      {"shl", decode_shift},           {"shr", decode_shift},       {"shf", decode_funnel_shift},
      {"popc", decode_bit_count},      {"clz", decode_bit_count},   {"bfind", decode_bit_count},
      {"brev", decode_bit_count},      {"bfe", decode_bit_field},   {"bfi", decode_bit_field},
      {"lop3", decode_logic_of_three}, {"prmt", decode_permute},    {"setp", decode_compare},
      {"selp", decode_select},         {"mov", decode_move},        {"cvta", decode_convert_address},
      {"cvt", decode_convert},         {"ld", decode_load},         {"st", decode_store},
      {"bra", decode_branch},          {"ret", decode_exit},        {"exit", decode_exit},
      {"bar", decode_barrier},         {"barrier", decode_barrier}, {"membar", decode_fence},
      {"fence", decode_fence},         {"shfl", decode_shuffle},    {"vote", decode_vote},
      {"match", decode_match},         {"redux", decode_reduce},    {"activemask", decode_active_mask}};
  return known;
}

}  // namespace

Instruction decode(Decoding& decoding) {
  const auto found = decoders().find(decoding.opcode());
  require(found != decoders().end(), "the interpreter does not know ", decoding.opcode());
  found->second(decoding);
  return decoding.finish();
}

}  // namespace trigram::ptx
