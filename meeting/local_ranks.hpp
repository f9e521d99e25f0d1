// Ranks as forked processes of this one, where no launcher started them.
#pragma once

#include <functional>

#include "core/training/carried_error.hpp"
#include "meeting/member.hpp"
#include "meeting/store/store.hpp"

namespace trigram {

/// A forked rank, inside its own process.
struct LocalRank {
  Member member;
  /// Brings the rank's error home, from any thread; the first call counts. The parent then ends all ranks.
  std::function<void(const CarriedError&)> report;
};

/// Forks `ranks` processes that meet in a folder of their own, runs `body` in each, and returns what each gave, by
/// rank. The first error that a rank throws or reports is rethrown here with its type and text; a rank that just dies
/// is a BackendError that names its signal or exit code. All processes have ended when this returns or throws, and they
/// end when this process does. The caller must have no threads and must not have called CUDA.
std::vector<Bytes> run_local_ranks(int ranks, const std::function<Bytes(const LocalRank&)>& body);

}  // namespace trigram
