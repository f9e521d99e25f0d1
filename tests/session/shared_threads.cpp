// The backend "shared_threads": as many threads of this process as it is told become the ranks of a job, though each
// makes a backend of its own, as the processes of a real job do.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/training/backend.hpp"

namespace trigram {
namespace {

/// The threads meet in one place, for each number of ranks that they are told.
Backend& meeting_place(int ranks) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<Backend>> places;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Backend>& place = places[ranks];
  if (place == nullptr) place = Backends::make("threads:ranks_per_node=2,timeout=20s");
  return *place;
}

class SharedThreads final : public Backend {
 public:
  explicit SharedThreads(Params& params) : ranks_(params.get("ranks", 2, "threads that enter", {1, 64})) {}

  std::vector<int> nodes(int ranks) const override { return meeting_place(ranks_).nodes(ranks); }
  int default_ranks() const override { return ranks_; }
  bool simulated() const override { return false; }
  std::string refuses_entering() const override { return {}; }
  std::unique_ptr<EnteredRank> enter(const World& world) override { return meeting_place(ranks_).enter(world); }
  Outcome run(const World& world, const RankBody& body) override { return meeting_place(ranks_).run(world, body); }

 private:
  int ranks_;
};

const Backends::Registration registration("shared_threads", {"threads of this process that enter, for tests"},
                                          [](Params& params) { return std::make_unique<SharedThreads>(params); });

}  // namespace
}  // namespace trigram
