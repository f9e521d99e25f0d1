// The implementation of every collective by exchanges.
#include "core/collectives/bodies.hpp"

#include <vector>

#include "core/collectives/reduction.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/values/error.hpp"

namespace trigram::by_exchange {
namespace {

/// The rank `offset` places after `rank` on the ring of n; `offset` may be negative down to -n.
int ring_rank(int rank, int offset, int n) { return (rank + offset + n) % n; }

void require_root(int root, int n) {
  require(root >= 0 && root < n, "root ", root, " is no rank of a group of ", n, "; ranks count from 0");
}

void ensure_one_a_rank(std::size_t parts, int n, const char* collective) {
  ensure(parts == static_cast<std::size_t>(n), collective, " got ", parts, " buffers for a group of ", n, " ranks");
}

const Buffer& at(std::span<const Buffer> parts, int rank) { return parts[static_cast<std::size_t>(rank)]; }

void all_gather_chunks(Communicator& comm, Buffer x) {
  const int n = comm.size();
  for (int step = 0; step < n - 1; ++step) {
    comm.exchange(
        {Transfer::send_to(ring_rank(comm.rank(), 1, n), x.chunk(ring_rank(comm.rank(), -step, n), n)),
         Transfer::receive_from(ring_rank(comm.rank(), -1, n), x.chunk(ring_rank(comm.rank(), -1 - step, n), n))});
  }
}

void all_gather_parts(Communicator& comm, std::span<const Buffer> parts) {
  const int n = comm.size();
  ensure_one_a_rank(parts.size(), n, "all_gather");
  for (int step = 0; step < n - 1; ++step) {
    comm.exchange(
        {Transfer::send_to(ring_rank(comm.rank(), 1, n), at(parts, ring_rank(comm.rank(), -step, n))),
         Transfer::receive_from(ring_rank(comm.rank(), -1, n), at(parts, ring_rank(comm.rank(), -1 - step, n)))});
  }
}

}  // namespace

void all_reduce(Communicator& comm, const CollectiveCall& call) {
  comm.all_reduce_algorithm().run(comm, call.x, call.op);
}

void reduce_scatter(Communicator& comm, const CollectiveCall& call) {
  const Buffer x = call.x;
  const int n = comm.size();
  if (n == 1) return;
  const int next = ring_rank(comm.rank(), 1, n);
  const int previous = ring_rank(comm.rank(), -1, n);
  const Buffer memory = comm.scratch(x.chunk(0, n).shape());  // the first chunk is the largest
  for (int step = 0; step < n - 1; ++step) {
    const Buffer outgoing = x.chunk(ring_rank(comm.rank(), -1 - step, n), n);
    const Buffer held = x.chunk(ring_rank(comm.rank(), (-2 - step) % n, n), n);
    const Buffer incoming = shaped_like(memory, held);
    comm.exchange({Transfer::send_to(next, outgoing), Transfer::receive_from(previous, incoming)});
    combine(comm, call.op, incoming, held);
  }
  finish_mean(comm, call.op, x.chunk(comm.rank(), n));
}

void all_gather(Communicator& comm, const CollectiveCall& call) {
  call.parts.empty() ? all_gather_chunks(comm, call.x) : all_gather_parts(comm, call.parts);
}

void all_to_all(Communicator& comm, const CollectiveCall& call) {
  const int n = comm.size();
  ensure_one_a_rank(call.parts.size(), n, "all_to_all");
  ensure_one_a_rank(call.received.size(), n, "all_to_all");
  copy_own(comm, at(call.parts, comm.rank()), at(call.received, comm.rank()));
  if (n == 1) return;
  std::vector<Transfer> transfers;
  transfers.reserve(2 * call.parts.size());
  // Both in ring order away from this rank: a backend that progresses a window of them then never waits for a message
  // that its sender has not reached yet.
  for (int distance = 1; distance < n; ++distance) {
    const int to = ring_rank(comm.rank(), distance, n);
    const int from = ring_rank(comm.rank(), -distance, n);
    transfers.push_back(Transfer::send_to(to, at(call.parts, to)));
    transfers.push_back(Transfer::receive_from(from, at(call.received, from)));
  }
  comm.exchange(transfers);
}

void broadcast(Communicator& comm, const CollectiveCall& call) {
  const Buffer x = call.x;
  const int n = comm.size();
  require_root(call.root, n);
  // Places count from the root; place p hears from p without its lowest bit, then tells p + every lower bit, the
  // largest subtree first.
  const int place = ring_rank(comm.rank(), -call.root, n);
  int bit = 1;
  while (bit < n && (place & bit) == 0) bit *= 2;
  if (place != 0) comm.exchange({Transfer::receive_from(ring_rank(call.root, place - bit, n), x)});
  for (bit /= 2; bit > 0; bit /= 2) {
    if (place + bit < n) comm.exchange({Transfer::send_to(ring_rank(call.root, place + bit, n), x)});
  }
}

void reduce(Communicator& comm, const CollectiveCall& call) {
  const Buffer x = call.x;
  const int n = comm.size();
  require_root(call.root, n);
  if (n == 1) return;
  const int place = ring_rank(comm.rank(), -call.root, n);
  const Buffer incoming = shaped_like(comm.scratch(x.shape()), x);
  int bit = 1;
  for (; bit < n && (place & bit) == 0; bit *= 2) {
    if (place + bit >= n) continue;
    comm.exchange({Transfer::receive_from(ring_rank(call.root, place + bit, n), incoming)});
    combine(comm, call.op, incoming, x);
  }
  if (place != 0) {
    comm.exchange({Transfer::send_to(ring_rank(call.root, place - bit, n), x)});
  } else {
    finish_mean(comm, call.op, x);
  }
}

void gather(Communicator& comm, const CollectiveCall& call) {
  const int n = comm.size();
  require_root(call.root, n);
  if (comm.rank() != call.root) return comm.exchange({Transfer::send_to(call.root, call.x)});
  ensure_one_a_rank(call.parts.size(), n, "gather");
  copy_own(comm, call.x, at(call.parts, call.root));
  if (n == 1) return;
  std::vector<Transfer> transfers;
  for (int distance = 1; distance < n; ++distance) {
    const int from = ring_rank(call.root, -distance, n);
    transfers.push_back(Transfer::receive_from(from, at(call.parts, from)));
  }
  comm.exchange(transfers);
}

void scatter(Communicator& comm, const CollectiveCall& call) {
  const int n = comm.size();
  require_root(call.root, n);
  if (comm.rank() != call.root) return comm.exchange({Transfer::receive_from(call.root, call.x)});
  ensure_one_a_rank(call.parts.size(), n, "scatter");
  copy_own(comm, at(call.parts, call.root), call.x);
  if (n == 1) return;
  std::vector<Transfer> transfers;
  for (int distance = 1; distance < n; ++distance) {
    const int to = ring_rank(call.root, distance, n);
    transfers.push_back(Transfer::send_to(to, at(call.parts, to)));
  }
  comm.exchange(transfers);
}

void barrier(Communicator& comm, const CollectiveCall&) {
  const int n = comm.size();
  const Buffer nothing(nullptr, Shape::of(0, DType::u8));
  for (int distance = 1; distance < n; distance *= 2) {
    comm.exchange({Transfer::send_to(ring_rank(comm.rank(), distance, n), nothing),
                   Transfer::receive_from(ring_rank(comm.rank(), -distance, n), nothing)});
  }
}

}  // namespace trigram::by_exchange
