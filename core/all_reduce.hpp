// The ways to all-reduce on top of exchange: each is one file in core/collectives, chosen by name.
#pragma once

#include "core/communicator.hpp"
#include "core/cost.hpp"
#include "core/registry.hpp"

namespace trigram {

/// One all-reduce algorithm, without state.
class AllReduce {
 public:
  static constexpr const char* registry_kind = "all-reduce";
  virtual ~AllReduce() = default;
  /// x = op over the ranks of `comm`, for any group size and any count; bit-identical on every rank.
  virtual void run(Communicator& comm, Buffer x, ReduceOp op) const = 0;
  /// What `rank` of a group of `ranks` sends for `count` elements of `element_bytes`.
  virtual Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const = 0;
};

using AllReduces = Registry<AllReduce>;

/// The all-reduce of that name, made once and kept: cheap enough for every call. Throws UsageError for an unknown name.
const AllReduce& all_reduce_named(const std::string& name);

}  // namespace trigram
