#include "experiments/measure/probes/posted_probe.hpp"

#include "experiments/measure/probes/network_probe.hpp"

namespace trigram {
namespace {

/// Short exchanges are repeated, so that the clock's grain and the barrier do not show.
constexpr int exchanges_of_sample = 32;

std::vector<Transfer> empty_messages(const Communicator& comm, const Pattern::Messages& messages, Buffer nothing,
                                     int count) {
  std::vector<Transfer> transfers;
  for (const auto& [from, to] : messages) {
    for (int i = 0; i < count; ++i) {
      if (from == comm.rank()) transfers.push_back(Transfer::send_to(to, nothing));
      if (to == comm.rank()) transfers.push_back(Transfer::receive_from(from, nothing));
    }
  }
  return transfers;
}

double seconds_of(RankRuntime& runtime, const Pattern::Messages& messages, int count) {
  Communicator& comm = *runtime.lane(0).comm;
  const OwnedBuffer memory = comm.device().allocate({1, DType::u8, 1, false});
  const std::vector<Transfer> transfers = empty_messages(comm, messages, memory.view().slice(0, 0), count);
  comm.barrier();
  if (transfers.empty()) return 0;
  comm.exchange(transfers);  // its ranks are here now
  const double begin = runtime.now();
  for (int i = 0; i < exchanges_of_sample; ++i) comm.exchange(transfers);
  return (runtime.now() - begin) / exchanges_of_sample;
}

}  // namespace

std::vector<PostedTimes> probe_posted(RankRuntime& runtime, const std::vector<int>& node_of_rank, int rounds) {
  std::vector<PostedTimes> times;
  for (const Pattern& pattern : network_patterns(node_of_rank)) {
    if (pattern.kind != Pattern::Kind::nodes_at_once) continue;
    for (int round = 0; round < rounds; ++round) {
      PostedTimes& one = times.emplace_back();
      one.one = seconds_of(runtime, pattern.turns.front(), 1);
      one.many = seconds_of(runtime, pattern.turns.front(), 1 + posted_more);
    }
  }
  return times;
}

}  // namespace trigram
