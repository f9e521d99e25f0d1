#include "core/lane/hierarchy.hpp"

#include <string>
#include <utility>

#include "core/values/error.hpp"

namespace trigram {
namespace {

int nodes_of(const Worker& worker) { return worker.runtime().map().nodes(worker.runtime().rank()); }

/// The node's sum becomes the value that its vertex brings; the factor hides in the node's reduction.
void scale_to_vertex(Worker& worker, NodeValue value, Buffer part) {
  const double factor =
      value == NodeValue::mean ? 1.0 / worker.node.size() : static_cast<double>(nodes_of(worker)) / worker.world_size();
  const Device::Uncharged free(worker.device);
  if (factor != 1.0) worker.device.scale(part, static_cast<float>(factor));
}

using Primitive = std::function<void(Communicator&, std::span<const Buffer>)>;

void by_leader(Worker& worker, std::span<const Buffer> all, NodeValue value, const Primitive& primitive) {
  for (const Buffer& x : all) worker.node.reduce(x, ReduceOp::sum, 0);
  if (worker.node.rank() == 0) {
    for (const Buffer& x : all) scale_to_vertex(worker, value, x);
    primitive(worker.leaders, all);
  }
  for (const Buffer& x : all) worker.node.broadcast(x, 0);
}

void by_all_nics(Worker& worker, std::span<const Buffer> all, NodeValue value, const Primitive& primitive) {
  std::vector<Buffer> parts;
  for (const Buffer& x : all) {
    worker.node.reduce_scatter(x, ReduceOp::sum);
    scale_to_vertex(worker, value, parts.emplace_back(x.chunk(worker.node.rank(), worker.node.size())));
  }
  primitive(worker.leaders, parts);
  for (const Buffer& x : all) worker.node.all_gather(x);
}

/// From the ranks of a node to what its vertex brings; this rank's part of it.
Buffer up(Worker& worker, Buffer x, NodeValue value) {
  const bool leads = worker.relaxation.hierarchy == Hierarchy::leader;
  leads ? worker.node.reduce(x, ReduceOp::sum, 0) : worker.node.reduce_scatter(x, ReduceOp::sum);
  const PrimitiveGroup group = primitive_group(worker, x);
  if (group.comm != nullptr) scale_to_vertex(worker, value, group.part);
  return group.part;
}

void down(Worker& worker, Buffer x) {
  const bool leads = worker.relaxation.hierarchy == Hierarchy::leader;
  leads ? worker.node.broadcast(x, 0) : worker.node.all_gather(x);
}

}  // namespace

void require_equal_nodes(const std::vector<int>& nodes, const char* where) {
  const Placement first = placement(nodes, 0);
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const Placement place = placement(nodes, static_cast<int>(rank));
    require(place.node_size == first.node_size, "hierarchy all_nics needs equal nodes" + std::string(where) +
                                                    ", but node 0 has " + std::to_string(first.node_size) +
                                                    " ranks and node " + std::to_string(place.node) + " has " +
                                                    std::to_string(place.node_size) + "; use leader");
  }
}

PrimitiveGroup primitive_group(Worker& worker, Buffer x) {
  switch (worker.relaxation.hierarchy) {
    case Hierarchy::none:
      return {&worker.comm, x};
    case Hierarchy::leader:
      return worker.node.rank() == 0 ? PrimitiveGroup{&worker.leaders, x} : PrimitiveGroup{};
    case Hierarchy::all_nics:
      return {&worker.leaders, x.chunk(worker.node.rank(), worker.node.size())};
  }
  throw Error("not a hierarchy");
}

Vertices vertices(const Worker& worker) {
  if (worker.relaxation.hierarchy != Hierarchy::none) return nodes_of(worker);
  return Vertices(worker.runtime().map().nodes_of_group(worker.runtime().rank()));
}

void hierarchical(Worker& worker, Buffer x, NodeValue value,
                  const std::function<void(Communicator&, Buffer)>& primitive) {
  hierarchical(worker, std::span<const Buffer>(&x, 1), value,
               [&](Communicator& group, std::span<const Buffer> parts) { primitive(group, parts.front()); });
}

void hierarchical(Worker& worker, std::span<const Buffer> all, NodeValue value, const Primitive& primitive) {
  switch (worker.relaxation.hierarchy) {
    case Hierarchy::none:
      return primitive(worker.comm, all);
    case Hierarchy::leader:
      return by_leader(worker, all, value, primitive);
    case Hierarchy::all_nics:
      return by_all_nics(worker, all, value, primitive);
  }
}

void hierarchical_by_chunks(Worker& worker, Buffer x, NodeValue value,
                            const std::function<void(Communicator&, Buffer)>& primitive) {
  const int chunks = worker.runtime().layout().hierarchy_chunks;
  if (chunks == 1 || worker.relaxation.hierarchy == Hierarchy::none) return hierarchical(worker, x, value, primitive);
  const bool between_nodes = primitive_group(worker, x).comm != nullptr;
  Pending before;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const Buffer part = up(worker, x.chunk(chunk, chunks), value);
    Pending now;
    if (between_nodes)
      now = worker.start_on_network_lane([part, primitive](Worker& lane) { primitive(lane.leaders, part); });
    before.wait();
    if (chunk > 0) down(worker, x.chunk(chunk - 1, chunks));
    before = std::move(now);
  }
  before.wait();
  down(worker, x.chunk(chunks - 1, chunks));
}

Cost hierarchical_cost(Hierarchy hierarchy, const Placement& place, std::int64_t count, std::int64_t element_bytes,
                       const std::function<Cost(int, int, std::int64_t)>& primitive) {
  const int local = place.local_rank;
  switch (hierarchy) {
    case Hierarchy::none:
      return primitive(place.ranks, place.rank, count);
    case Hierarchy::leader: {
      const std::int64_t bytes = count * element_bytes;
      const Cost between = local == 0 ? primitive(place.nodes, place.node, count) : Cost{};
      return reduce_cost(place.node_size, local, bytes, 0) + between + broadcast_cost(place.node_size, local, bytes, 0);
    }
    case Hierarchy::all_nics:
      return reduce_scatter_cost(place.node_size, local, count, element_bytes) +
             primitive(place.nodes, place.node, chunk_count(count, place.node_size, local)) +
             all_gather_cost(place.node_size, local, count, element_bytes);
  }
  throw Error("not a hierarchy");
}

Cost hierarchical_by_chunks_cost(int chunks, Hierarchy hierarchy, const Placement& place, std::int64_t count,
                                 std::int64_t element_bytes,
                                 const std::function<Cost(int, int, std::int64_t)>& primitive) {
  if (hierarchy == Hierarchy::none) return primitive(place.ranks, place.rank, count);
  Cost total;
  for (int chunk = 0; chunk < chunks; ++chunk)
    total += hierarchical_cost(hierarchy, place, chunk_count(count, chunks, chunk), element_bytes, primitive);
  return total;
}

}  // namespace trigram
