// Round trips: an empty one gives alpha, one with a large message out and an empty one back gives beta.
#include "experiments/measure/probes/message_probe.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trigram {
namespace {

constexpr std::int64_t probe_bytes = std::int64_t{64} << 20;

Buffer phantom_of(std::int64_t bytes) { return {nullptr, Shape{0, DType::u8, bytes, true}}; }

/// The seconds of one round trip, on the first of the pair.
double round_trip(RankRuntime& runtime, const std::pair<int, int>& pair, std::int64_t bytes) {
  Communicator& comm = *runtime.lane(0).comm;
  const double begin = runtime.now();
  if (comm.rank() == pair.first) {
    comm.exchange({Transfer::send_to(pair.second, phantom_of(bytes))});
    comm.exchange({Transfer::receive_from(pair.second, phantom_of(0))});
  } else if (comm.rank() == pair.second) {
    comm.exchange({Transfer::receive_from(pair.first, phantom_of(bytes))});
    comm.exchange({Transfer::send_to(pair.first, phantom_of(0))});
  }
  return runtime.now() - begin;
}

/// Beyond so many ranks, rank 0 meets those at distances 1, 2, 4, … only: neighbours meet on every link anyway.
constexpr int all_below = 129;

/// The pairs that `rank` is one of, in an order that all ranks follow: rank 0 with others, then neighbours.
std::vector<std::pair<int, int>> pairs_of(int rank, int n) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 1; i < n; i = n < all_below ? i + 1 : i * 2) {
    if (rank == 0 || rank == i) pairs.emplace_back(0, i);
  }
  for (const int i : {rank - 1, rank}) {
    if (i >= 1) pairs.emplace_back(i, (i + 1) % n);
  }
  if (rank == 0 && n > 1) pairs.emplace_back(n - 1, 0);
  return pairs;
}

}  // namespace

std::vector<MessageTime> probe_messages(RankRuntime& runtime) {
  Communicator& comm = *runtime.lane(0).comm;
  std::vector<MessageTime> probes;
  for (const std::pair<int, int>& pair : pairs_of(comm.rank(), comm.size())) {
    round_trip(runtime, pair, 0);  // both ranks are here now
    const double empty = round_trip(runtime, pair, 0);
    const double full = round_trip(runtime, pair, probe_bytes);
    if (comm.rank() == pair.first) probes.push_back({empty / 2, (full - empty) / static_cast<double>(probe_bytes)});
  }
  comm.barrier();
  return probes;
}

std::optional<MessageTime> common(const std::vector<MessageTime>& probes) {
  constexpr double tolerance = 1e-6;
  if (probes.empty()) return MessageTime{};
  const auto near = [](double a, double b) {
    return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
  };
  const bool same = std::all_of(probes.begin(), probes.end(), [&](const MessageTime& probe) {
    return near(probe.alpha, probes.front().alpha) && near(probe.beta, probes.front().beta);
  });
  return same ? std::optional(probes.front()) : std::nullopt;
}

}  // namespace trigram
