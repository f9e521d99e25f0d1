#include "backends/sim/communicator/in_memory.hpp"

#include "backends/sim/simulation.hpp"
#include "core/collectives/reduction.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {
namespace {

ReduceOp sum_or(ReduceOp op) { return op == ReduceOp::mean ? ReduceOp::sum : op; }

bool has_numbers(const std::vector<Buffer>& all) { return !all.front().is_phantom(); }

// As the rounds do: chunk i = x_{i+1} + x_{i+2} + … + x_i, held by the rank that adds last.
void reduce_chunks(Communicator& comm, ReduceOp op, const std::vector<Buffer>& x) {
  const int n = comm.size();
  for (int chunk = 0; chunk < n; ++chunk) {
    for (int step = 2; step <= n; ++step) {
      const Buffer held = x[at((chunk + step) % n)].chunk(chunk, n);
      if (held.count() == 0) continue;
      comm.device().kernels().reduce(sum_or(op), x[at((chunk + step - 1) % n)].chunk(chunk, n), held);
    }
    finish_mean(comm, op, x[at(chunk)].chunk(chunk, n));
  }
}

void gather_chunks(const std::vector<Buffer>& x) {
  const int n = static_cast<int>(x.size());
  for (int chunk = 0; chunk < n; ++chunk) {
    for (int to = 0; to < n; ++to) copy_bytes(x[at(chunk)].chunk(chunk, n), x[at(to)].chunk(chunk, n));
  }
}

// Place p, counted from the root, adds the places p + 1, p + 2, p + 4, … that are below it in the tree.
void reduce_along_tree(Communicator& comm, const CollectiveCall& call, const std::vector<Buffer>& all) {
  if (all.front().count() == 0) return;
  const int n = comm.size(), root = call.root;
  for (int bit = 1; bit < n; bit *= 2) {
    for (int place = 0; place + bit < n; place += 2 * bit)
      comm.device().kernels().reduce(sum_or(call.op), all[at((root + place + bit) % n)], all[at((root + place) % n)]);
  }
  finish_mean(comm, call.op, all[at(root)]);
}

}  // namespace

void deliver(Group& group, Buffer from, Buffer to, int sender, int receiver) {
  if (group.simulation().failures().failing())
    return;  // the rank that failed has freed its memory; all others end in this instant
  if (!same_size(from, to)) {
    throw Error("rank " + std::to_string(group.member(sender)) + " sends " + size_text(from) + " where rank " +
                std::to_string(group.member(receiver)) + " receives " + size_text(to) +
                "; both ends of a message must agree");
  }
  copy_bytes(from, to);
}

void require_same_sizes(Group& group) {
  const std::vector<Buffer>& all = group.meeting().buffers;
  const Buffer& first = all.front();
  for (int rank = 1; rank < group.size(); ++rank) {
    const Buffer& x = all[at(rank)];
    if (same_size(x, first)) continue;
    throw Error("rank " + std::to_string(group.member(rank)) + " brings " + std::to_string(x.modelled_bytes()) +
                " bytes to a collective, rank " + std::to_string(group.member(0)) + " brings " +
                std::to_string(first.modelled_bytes()) + "; all ranks must agree");
  }
}

void require_root(const CollectiveCall& call, int ranks) {
  require(call.root >= 0 && call.root < ranks, "root ", call.root, " is no rank of a group of ", ranks,
          "; ranks count from 0");
}

void perform_in_memory(Communicator& comm, const CollectiveCall& call, const std::vector<Buffer>& all) {
  if (!has_numbers(all)) return;
  switch (call.collective) {
    case Collective::all_reduce:
      reduce_chunks(comm, call.op, all);
      return gather_chunks(all);
    case Collective::reduce_scatter:
      return reduce_chunks(comm, call.op, all);
    case Collective::all_gather:
      return gather_chunks(all);
    case Collective::broadcast:
      for (const Buffer& one : all) copy_bytes(all[at(call.root)], one);
      return;
    case Collective::reduce:
      return reduce_along_tree(comm, call, all);
    default:
      throw Error(std::string("no vectors of all ranks are brought to a ") + name_of(call.collective));
  }
}

}  // namespace trigram::sim
