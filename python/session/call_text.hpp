// A collective and its tensors as the library's callers write them.
#pragma once

#include <cstdint>

#include "core/foreign/foreign_messages.hpp"
#include "python/session/answer.hpp"

namespace trigram {

/// `text`: what core/foreign/foreign_messages.hpp says, and "dtype".
inline GroupCall group_call_of(const char* text, const std::uint64_t* addresses, const std::int64_t* counts,
                               int buffers) {
  const Json given = Json::parse(text);
  GroupCall call = group_call_of(given);
  const DType dtype = dtype_of(given.at("dtype"));
  for (int i = 0; i < buffers; ++i) call.buffers.emplace_back(address(addresses[i]), Shape::of(counts[i], dtype));
  return call;
}

}  // namespace trigram
