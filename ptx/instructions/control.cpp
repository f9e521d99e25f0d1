#include "ptx/instructions/control.hpp"

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/reader/texts.hpp"
#include "ptx/store_buffer.hpp"

namespace trigram::ptx {

namespace {

constexpr std::uint64_t barriers_of_block = 16;

void do_nothing(Lanes&, const Instruction&) {}

void fence(Lanes& lanes, const Instruction&) {
  if (lanes.stores != nullptr) lanes.stores->drain(lanes.active);
}

}  // namespace

void decode_branch(Decoding& d) {
  d.take("uni");
  d.set_label(d.take_text());
  d.instruction().flow = Flow::branch;
}

void decode_exit(Decoding& d) {
  d.take("uni");
  d.instruction().flow = Flow::exit;
}

void decode_barrier(Decoding& d) {
  if (d.take("warp")) {
    d.take_one({"sync"});
    d.source(bits32);
    d.instruction().flow = Flow::warp_barrier;
    d.instruction().handler = do_nothing;
    return;
  }
  d.take("cta");
  d.take_one({"sync"});
  require(d.take("aligned") || d.opcode() == "bar", "the interpreter knows barriers that are aligned");
  const std::string_view text = d.take_text();
  const auto number = integer_of(text);
  require(number && *number < barriers_of_block, text, " is no number of a barrier, 0 to 15");
  require(d.operands_left() == 0, "the interpreter knows barriers of all threads of a block");
  d.instruction().flow = Flow::block_barrier;
  d.instruction().offset = static_cast<std::int64_t>(*number);
}

void decode_fence(Decoding& d) {
  d.take_any({"sc", "acq_rel", "acquire", "release"});
  d.take_any({"cta", "cluster", "gpu", "sys", "gl"});
  d.instruction().handler = fence;
}

}  // namespace trigram::ptx
