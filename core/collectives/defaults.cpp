// The default body of every collective, on top of exchange.
#include "core/collectives/reduction.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/lane/communicator.hpp"
#include "core/values/error.hpp"

namespace trigram {

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

}  // namespace

void Communicator::all_reduce(Buffer x, ReduceOp op) { all_reduce_named(all_reduce_name_).run(*this, x, op); }

void Communicator::reduce_scatter(Buffer x, ReduceOp op) {
  const int n = size();
  if (n == 1) return;
  const int next = ring_rank(rank(), 1, n);
  const int previous = ring_rank(rank(), -1, n);
  const Buffer memory = scratch(x.chunk(0, n).shape());  // the first chunk is the largest
  for (int step = 0; step < n - 1; ++step) {
    const Buffer outgoing = x.chunk(ring_rank(rank(), -1 - step, n), n);
    const Buffer held = x.chunk(ring_rank(rank(), (-2 - step) % n, n), n);
    const Buffer incoming = shaped_like(memory, held);
    exchange({Transfer::send_to(next, outgoing), Transfer::receive_from(previous, incoming)});
    combine(*this, op, incoming, held);
  }
  finish_mean(*this, op, x.chunk(rank(), n));
}

void Communicator::all_gather(Buffer x) {
  const int n = size();
  for (int step = 0; step < n - 1; ++step) {
    exchange({Transfer::send_to(ring_rank(rank(), 1, n), x.chunk(ring_rank(rank(), -step, n), n)),
              Transfer::receive_from(ring_rank(rank(), -1, n), x.chunk(ring_rank(rank(), -1 - step, n), n))});
  }
}

void Communicator::all_gather(std::span<const Buffer> parts) {
  const int n = size();
  ensure_one_a_rank(parts.size(), n, "all_gather");
  for (int step = 0; step < n - 1; ++step) {
    exchange({Transfer::send_to(ring_rank(rank(), 1, n), at(parts, ring_rank(rank(), -step, n))),
              Transfer::receive_from(ring_rank(rank(), -1, n), at(parts, ring_rank(rank(), -1 - step, n)))});
  }
}

void Communicator::all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive) {
  const int n = size();
  ensure_one_a_rank(send.size(), n, "all_to_all");
  ensure_one_a_rank(receive.size(), n, "all_to_all");
  copy_own(*this, at(send, rank()), at(receive, rank()));
  if (n == 1) return;
  std::vector<Transfer> transfers;
  transfers.reserve(2 * send.size());
  // Both in ring order away from this rank: a backend that progresses a window of them then never waits for a message
  // that its sender has not reached yet.
  for (int distance = 1; distance < n; ++distance) {
    const int to = ring_rank(rank(), distance, n);
    const int from = ring_rank(rank(), -distance, n);
    transfers.push_back(Transfer::send_to(to, at(send, to)));
    transfers.push_back(Transfer::receive_from(from, at(receive, from)));
  }
  exchange(transfers);
}

void Communicator::broadcast(Buffer x, int root) {
  const int n = size();
  require_root(root, n);
  // Places count from the root; place p hears from p without its lowest bit, then tells p + every lower bit, the
  // largest subtree first.
  const int place = ring_rank(rank(), -root, n);
  int bit = 1;
  while (bit < n && (place & bit) == 0) bit *= 2;
  if (place != 0) exchange({Transfer::receive_from(ring_rank(root, place - bit, n), x)});
  for (bit /= 2; bit > 0; bit /= 2) {
    if (place + bit < n) exchange({Transfer::send_to(ring_rank(root, place + bit, n), x)});
  }
}

void Communicator::reduce(Buffer x, ReduceOp op, int root) {
  const int n = size();
  require_root(root, n);
  if (n == 1) return;
  const int place = ring_rank(rank(), -root, n);
  const Buffer incoming = shaped_like(scratch(x.shape()), x);
  int bit = 1;
  for (; bit < n && (place & bit) == 0; bit *= 2) {
    if (place + bit >= n) continue;
    exchange({Transfer::receive_from(ring_rank(root, place + bit, n), incoming)});
    combine(*this, op, incoming, x);
  }
  if (place != 0) {
    exchange({Transfer::send_to(ring_rank(root, place - bit, n), x)});
  } else {
    finish_mean(*this, op, x);
  }
}

void Communicator::gather(Buffer part, std::span<const Buffer> parts, int root) {
  const int n = size();
  require_root(root, n);
  if (rank() != root) return exchange({Transfer::send_to(root, part)});
  ensure_one_a_rank(parts.size(), n, "gather");
  copy_own(*this, part, at(parts, root));
  if (n == 1) return;
  std::vector<Transfer> transfers;
  for (int distance = 1; distance < n; ++distance) {
    const int from = ring_rank(root, -distance, n);
    transfers.push_back(Transfer::receive_from(from, at(parts, from)));
  }
  exchange(transfers);
}

void Communicator::scatter(std::span<const Buffer> parts, Buffer part, int root) {
  const int n = size();
  require_root(root, n);
  if (rank() != root) return exchange({Transfer::receive_from(root, part)});
  ensure_one_a_rank(parts.size(), n, "scatter");
  copy_own(*this, at(parts, root), part);
  if (n == 1) return;
  std::vector<Transfer> transfers;
  for (int distance = 1; distance < n; ++distance) {
    const int to = ring_rank(root, distance, n);
    transfers.push_back(Transfer::send_to(to, at(parts, to)));
  }
  exchange(transfers);
}

void Communicator::barrier() {
  const int n = size();
  const Buffer nothing(nullptr, Shape::of(0, DType::u8));
  for (int distance = 1; distance < n; distance *= 2) {
    exchange({Transfer::send_to(ring_rank(rank(), distance, n), nothing),
              Transfer::receive_from(ring_rank(rank(), -distance, n), nothing)});
  }
}

}  // namespace trigram
