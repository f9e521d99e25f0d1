#include "core/training/backend.hpp"

#include <utility>

#include "core/lane/all_reduce.hpp"
#include "core/values/packing.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

/// Traces make results large: each is given up as soon as it is packed.
std::vector<std::byte> pack(Outcome outcome) {
  Packer packer;
  packer.put(outcome.seconds);
  packer.put_text(outcome.facts);
  packer.put(static_cast<std::uint64_t>(outcome.results.size()));
  for (auto& result : outcome.results) packer.put_all(std::span<const std::byte>(std::exchange(result, {})));
  return std::move(packer).bytes();
}

Outcome unpack_outcome(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  Outcome outcome;
  outcome.seconds = unpacker.take<double>();
  outcome.facts = unpacker.take_text();
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left)
    outcome.results.push_back(unpacker.take_all<std::byte>());
  return outcome;
}

void Backend::use_device(std::optional<int> device) {
  require(!device, "the memory to work on is that of CUDA device ", device.value_or(0),
          ", and this backend works on the host's; take backend gpu, or move models and tensors to the CPU");
}

std::string Backend::all_reduce_here(const std::string& asked) const {
  const std::string library = all_reduce_named(asked).library();
  require(library.empty(), "all-reduce ", Quoted(asked), " is what ", library,
          " chooses, which this backend does not have; use --all-reduce ring, or a backend that has it: sim, which "
          "models it, or gpu:collectives=vendor");
  return asked;
}

void Backend::require_chunks(const World& world, Hierarchy hierarchy) const {
  if (world.layout().hierarchy_chunks == 1) return;
  require(hierarchy != Hierarchy::none, "--hierarchy-chunks ", world.hierarchy_chunks,
          ", but there is no hierarchy; ask for --hierarchy leader or all_nics, or for 1");
  const std::string refusal = refuses_network_lanes();
  require(refusal.empty(), "--hierarchy-chunks ", world.hierarchy_chunks, ": ", refusal);
}

Outcome run_entered(EnteredRank& rank, const RankBody& body) {
  try {
    return rank.leave(body(rank.runtime()));
  } catch (...) {
    rank.fail(std::current_exception());
    throw;
  }
}

}  // namespace trigram
