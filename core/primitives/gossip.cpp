#include "core/primitives/gossip.hpp"

#include <map>
#include <span>

namespace trigram {
namespace {

/// What each peer sends, in the order of values.
using Received = std::map<int, std::vector<Buffer>>;

constexpr std::int64_t chunk_alignment = 256;

std::int64_t aligned(std::int64_t bytes) { return (bytes + chunk_alignment - 1) / chunk_alignment * chunk_alignment; }

/// Places for the values of each peer in the group's scratch memory, which the next bucket has again: memory that is
/// given back for each stays with the process, in pieces that nothing fits into.
Received places(Communicator& group, const std::vector<int>& peers, std::span<const Buffer> values) {
  std::int64_t bytes = 0;
  for (const Buffer& value : values) bytes += aligned(value.bytes()) * static_cast<std::int64_t>(peers.size());
  const Buffer memory = group.scratch(Shape::of(bytes, DType::u8));
  Received all;
  std::int64_t offset = 0;
  for (const int peer : peers) {
    for (const Buffer& value : values) {
      const Buffer place = memory.slice(offset, value.bytes(), value.modelled_bytes()).as(value.dtype());
      all[peer].push_back(value.is_phantom() ? Buffer(nullptr, value.shape()) : place);
      offset += aligned(value.bytes());
    }
  }
  return all;
}

/// Of the peers that are there.
Received receive(Communicator& group, const Topology& topology, std::int64_t round, std::span<const Buffer> values) {
  Received received = places(group, topology.receives_from(group.rank(), round), values);
  std::vector<Transfer> transfers;
  for (const int peer : topology.sends_to(group.rank(), round)) {
    for (const Buffer& value : values) transfers.push_back(Transfer::send_to(peer, value));
  }
  for (const int peer : topology.receives_from(group.rank(), round)) {
    for (const Buffer& value : received.at(peer)) transfers.push_back(Transfer::receive_from(peer, value));
  }
  if (transfers.empty()) return received;
  for (const int gone : group.exchange_with_those_there(transfers)) received.erase(gone);
  return received;
}

/// The row without those of whom nothing came: what they would weigh, the vertex itself does.
Topology::Row row_of(const Topology& topology, int vertex, std::int64_t round, const Received& received) {
  Topology::Row row = topology.row(vertex, round);
  for (auto at = row.begin(); at != row.end();) {
    const auto [other, weight] = *at++;
    if (other == vertex || received.contains(other)) continue;
    row[vertex] += weight;
    row.erase(other);
  }
  return row;
}

void mix(Worker& lane, Communicator& group, const Topology& topology, std::int64_t round,
         std::span<const Buffer> values) {
  const Received received = receive(group, topology, round, values);
  const Topology::Row row = row_of(topology, group.rank(), round, received);
  if (row.size() == 1 && static_cast<float>(row.begin()->second) == 1.0F) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<Buffer> terms;
    std::vector<float> weights;
    for (const auto& [vertex, weight] : row) {
      terms.push_back(vertex == group.rank() ? values[i] : received.at(vertex)[i]);
      weights.push_back(static_cast<float>(weight));
    }
    lane.device.weighted_sum(terms, weights, values[i]);
  }
}

}  // namespace

void gossip(Worker& lane, const Topology& topology, std::int64_t round, const std::vector<Buffer>& values) {
  hierarchical(lane, values, NodeValue::mean,
               [&](Communicator& group, std::span<const Buffer> parts) { mix(lane, group, topology, round, parts); });
}

Cost gossip_cost(const CostQuery& query, const Topology& topology, std::int64_t round,
                 const std::vector<Shape>& values) {
  Cost all;
  bool first = true;
  for (const Shape& value : values) {
    const std::int64_t element = size_of(value.dtype);
    all += hierarchical_cost(query.hierarchy, query.place, value.modelled_count, element,
                             [&](int, int vertex, std::int64_t count) {
                               const Cost alone = neighbour_cost(topology, vertex, round, count * element);
                               return first ? alone : Cost{0, alone.bytes};
                             });
    first = false;
  }
  return all;
}

Cost neighbour_cost(const Topology& topology, int vertex, std::int64_t round, std::int64_t bytes) {
  const auto peers = static_cast<std::int64_t>(topology.sends_to(vertex, round).size());
  const bool silent = peers == 0 && topology.receives_from(vertex, round).empty();
  return {silent ? 0 : 1, peers * bytes};
}

}  // namespace trigram
