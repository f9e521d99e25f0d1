// A collective and its tensors as the library's callers write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/group_call.hpp"
#include "python/session/answer.hpp"

namespace trigram {

/// `text`: {"collective", "op", "peer", "dtype", "peers", "sent"}.
inline GroupCall group_call_of(const char* text, const std::uint64_t* addresses, const std::int64_t* counts,
                               int buffers) {
  const Json given = Json::parse(text);
  GroupCall call{given.at("collective"), reduce_op_of(given.at("op")), given.at("peer")};
  call.peers = given.at("peers").get<std::vector<int>>();
  call.sent = given.at("sent").get<std::size_t>();
  const DType dtype = dtype_of(given.at("dtype"));
  for (int i = 0; i < buffers; ++i) call.buffers.emplace_back(address(addresses[i]), Shape::of(counts[i], dtype));
  return call;
}

}  // namespace trigram
