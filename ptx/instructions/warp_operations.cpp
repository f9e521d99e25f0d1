#include "ptx/instructions/warp_operations.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/choose.hpp"
#include "ptx/reader/texts.hpp"

namespace trigram::ptx {

namespace {

using LaneWords = std::array<std::uint32_t, lanes_of_warp>;

enum class Shuffle : std::size_t { up, down, butterfly, index };

/// From where a lane takes its value, and whether that lies within its segment.
struct ShuffleSource {
  std::uint32_t lane;
  bool within;
};

/// `c` holds the bounds of segments: a mask in bits 8 to 12, what is clamped to in bits 0 to 4.
template <Shuffle mode>
ShuffleSource source_of(std::uint32_t lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t by = b & 31, segment = c >> 8 & 31, clamp = c & 31;
  const std::uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  if constexpr (mode == Shuffle::up) {
    const bool within = static_cast<std::int32_t>(lane - by) >= static_cast<std::int32_t>(last);
    return {within ? lane - by : lane, within};
  }
  const std::uint32_t from = mode == Shuffle::down        ? lane + by
                             : mode == Shuffle::butterfly ? lane ^ by
                                                          : first | (by & ~segment);
  return {from <= last ? from : lane, from <= last};
}

/// Operands: the value, whether it is from within, what is exchanged, from where, the segments, the mask.
template <Shuffle mode>
void shuffle(Lanes& lanes, const Instruction& i) {
  LaneWords given;
  std::memcpy(given.data(), lanes.at(i.operands[2]), sizeof given);
  const auto *b = lanes.values<std::uint32_t>(i.operands[3]), *c = lanes.values<std::uint32_t>(i.operands[4]);
  std::array<ShuffleSource, lanes_of_warp> sources;
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) sources[lane] = source_of<mode>(lane, b[lane], c[lane]);
  std::uint32_t within = 0;
  over(lanes.active, [&, to = lanes.values<std::uint32_t>(i.operands[0])](std::uint32_t lane) {
    const ShuffleSource source = sources[lane];
    if ((lanes.active >> source.lane & 1) == 0) [[unlikely]]
      lanes.fault(i, lane, "synccheck",
                  "the shuffle reads lane " + number_text(source.lane) + ", which takes no part in it,");
    to[lane] = given[source.lane];
    within |= std::uint32_t{source.within} << lane;
  });
  lanes.set_predicate(i.operands[1], within);
}

enum class Vote : std::size_t { all, any, uniform, ballot };

/// Each lane asks the lanes that its mask names.
template <Vote mode>
bool agreed(std::uint32_t votes, std::uint32_t mask) {
  const std::uint32_t yes = votes & mask;
  if constexpr (mode == Vote::all) return yes == mask;
  if constexpr (mode == Vote::any) return yes != 0;
  return yes == 0 || yes == mask;
}

template <Vote mode>
void vote(Lanes& lanes, const Instruction& i) {
  const std::uint32_t votes = lanes.predicate(i.operands[1]);
  const auto* masks = lanes.values<std::uint32_t>(i.operands[2]);
  if constexpr (mode == Vote::ballot) {
    over(lanes.active,
         [=, to = lanes.values<std::uint32_t>(i.operands[0])](std::uint32_t lane) { to[lane] = votes & masks[lane]; });
  } else {
    std::uint32_t result = 0;
    over(lanes.active, [&](std::uint32_t lane) { result |= std::uint32_t{agreed<mode>(votes, masks[lane])} << lane; });
    lanes.set_predicate(i.operands[0], result);
  }
}

/// The lanes of its mask whose value is that of this lane.
template <class T>
std::uint32_t equal_lanes(const T* values, std::uint32_t lane, std::uint32_t mask) {
  std::uint32_t equal = 0;
  for (std::uint32_t other = 0; other < lanes_of_warp; ++other)
    equal |= std::uint32_t{values[other] == values[lane]} << other;
  return equal & mask;
}

template <class T>
void match_any(Lanes& lanes, const Instruction& i) {
  LaneWords result{};
  const auto* masks = lanes.values<std::uint32_t>(i.operands[3]);
  over(lanes.active, [&, from = lanes.values<T>(i.operands[2])](std::uint32_t lane) {
    result[lane] = equal_lanes(from, lane, masks[lane]);
  });
  over(lanes.active,
       [&, to = lanes.values<std::uint32_t>(i.operands[0])](std::uint32_t lane) { to[lane] = result[lane]; });
}

template <class T>
void match_all(Lanes& lanes, const Instruction& i) {
  LaneWords result{};
  std::uint32_t matched = 0;
  const auto* masks = lanes.values<std::uint32_t>(i.operands[3]);
  over(lanes.active, [&, from = lanes.values<T>(i.operands[2])](std::uint32_t lane) {
    const bool all = equal_lanes(from, lane, masks[lane]) == masks[lane];
    result[lane] = all ? masks[lane] : 0;
    matched |= std::uint32_t{all} << lane;
  });
  over(lanes.active,
       [&, to = lanes.values<std::uint32_t>(i.operands[0])](std::uint32_t lane) { to[lane] = result[lane]; });
  lanes.set_predicate(i.operands[1], matched);
}

constexpr auto sum = [](std::uint32_t a, std::uint32_t b) { return a + b; };
constexpr auto all_bits = [](std::uint32_t a, std::uint32_t b) { return a & b; };
constexpr auto any_bits = [](std::uint32_t a, std::uint32_t b) { return a | b; };
constexpr auto odd_bits = [](std::uint32_t a, std::uint32_t b) { return a ^ b; };
template <class T>
constexpr auto lesser = [](T a, T b) { return std::min(a, b); };
template <class T>
constexpr auto greater_of = [](T a, T b) { return std::max(a, b); };

/// Over the lanes of each lane's mask, in their order.
template <auto function, class T>
void reduce(Lanes& lanes, const Instruction& i) {
  std::array<T, lanes_of_warp> given;
  std::memcpy(given.data(), lanes.at(i.operands[1]), sizeof given);
  const auto* masks = lanes.values<std::uint32_t>(i.operands[2]);
  over(lanes.active, [&, to = lanes.values<T>(i.operands[0])](std::uint32_t lane) {
    T result = given[lane];
    over(masks[lane] & ~(1U << lane), [&](std::uint32_t other) { result = function(result, given[other]); });
    to[lane] = result;
  });
}

void active_mask(Lanes& lanes, const Instruction& i) {
  over(lanes.active,
       [&, to = lanes.values<std::uint32_t>(i.operands[0])](std::uint32_t lane) { to[lane] = lanes.active; });
}

/// Takes `d` or `d|p`.
void take_value_and_predicate(Decoding& d) {
  const auto both = split_operands(d.take_text(), '|');
  require(both.size() <= 2, "it sets one register, or one and a predicate");
  d.destination_from(both[0], bits32, false);
  d.destination_from(both.size() == 2 ? both[1] : "_", predicate_type, false);
}

void begin_collective(Decoding& d) {
  d.take_one({"sync"});
  d.instruction().flow = Flow::collective;
}

}  // namespace

void decode_shuffle(Decoding& d) {
  constexpr std::array<Handler, 4> handlers = {shuffle<Shuffle::up>, shuffle<Shuffle::down>,
                                               shuffle<Shuffle::butterfly>, shuffle<Shuffle::index>};
  begin_collective(d);
  d.instruction().handler = handlers[d.take_one({"up", "down", "bfly", "idx"})];
  require(d.take_type() == bits32, "it exchanges 32 bits");
  take_value_and_predicate(d);
  d.sources({bits32, bits32, bits32, bits32});
}

void decode_vote(Decoding& d) {
  constexpr std::array<Handler, 4> handlers = {vote<Vote::all>, vote<Vote::any>, vote<Vote::uniform>,
                                               vote<Vote::ballot>};
  begin_collective(d);
  const std::size_t mode = d.take_one({"all", "any", "uni", "ballot"});
  const Type type = d.take_type();
  require(type == (mode == 3 ? bits32 : predicate_type), "its result has another type");
  d.instruction().handler = handlers[mode];
  d.destination(type);
  d.sources({predicate_type, bits32});
}

void decode_match(Decoding& d) {
  begin_collective(d);
  const bool all = d.take_one({"any", "all"}) == 1;
  const Type type = d.take_type();
  require(type.kind == Type::Kind::bits && type.bytes >= 4, "it compares 32 or 64 bits");
  take_value_and_predicate(d);
  d.sources({type, bits32});
  d.instruction().handler =
      for_bits(type.bytes, [&]<class T>() -> Handler { return all ? match_all<T> : match_any<T>; });
}

void decode_reduce(Decoding& d) {
  using Signed = std::int32_t;
  using Word = std::uint32_t;
  static const std::map<std::string_view, std::array<Handler, 3>> handlers = {
      {"add", {reduce<sum, Word>, reduce<sum, Word>, nullptr}},
      {"min", {reduce<lesser<Word>, Word>, reduce<lesser<Signed>, Signed>, nullptr}},
      {"max", {reduce<greater_of<Word>, Word>, reduce<greater_of<Signed>, Signed>, nullptr}},
      {"and", {nullptr, nullptr, reduce<all_bits, Word>}},
      {"or", {nullptr, nullptr, reduce<any_bits, Word>}},
      {"xor", {nullptr, nullptr, reduce<odd_bits, Word>}}};
  begin_collective(d);
  constexpr std::array<std::string_view, 6> names = {"add", "min", "max", "and", "or", "xor"};
  const std::string_view name = names[d.take_one({"add", "min", "max", "and", "or", "xor"})];
  const Type type = d.take_type();
  require(is_integer(type) && type.bytes == 4, "it reduces 32 bits");
  const std::size_t kind = type.kind == Type::Kind::whole ? 0 : type.kind == Type::Kind::integer ? 1 : 2;
  d.instruction().handler = handlers.at(name)[kind];
  require(d.instruction().handler != nullptr, "the interpreter does not know it for this type");
  d.destination(type);
  d.sources({type, bits32});
}

void decode_active_mask(Decoding& d) {
  require(d.take_type() == bits32, "its result has 32 bits");
  d.destination(bits32);
  d.instruction().handler = active_mask;
}

}  // namespace trigram::ptx
