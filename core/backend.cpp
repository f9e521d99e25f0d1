#include "core/backend.hpp"

namespace trigram {

Outcome run_entered(EnteredRank& rank, const RankBody& body) {
  try {
    return rank.leave(body(rank.runtime()));
  } catch (...) {
    rank.fail(std::current_exception());
    throw;
  }
}

}  // namespace trigram
