// Machines whose time between failures is exponentially distributed, and that are replaced by others.
#include <cmath>
#include <queue>
#include <utility>

#include "core/members/drawn_membership.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

/// P(life > t) = exp(−t/mean), of each machine by its number, whatever becomes of the others.
class MeanTimeBetweenFailures final : public DrawnMembership {
 public:
  explicit MeanTimeBetweenFailures(Params& params)
      : DrawnMembership(params),
        mean_(params.get("mean", "1h", Unit::seconds, "time that a machine lives on average")),
        replacement_(params.get("replacement", "5min", Unit::seconds,
                                "time until another machine stands in for one that is gone; 0: none does")),
        members_of_machine_(params.get("machine", 1, "members of a machine, that go and come together", {1, 1024})) {
    require(mean_ > 0, params.owner(), ": mean=0 leaves a machine no time to live; give more");
  }

  void begin(int ranks, std::uint64_t seed) override {
    seed_ = seed;
    require(ranks % members_of_machine_ == 0, "membership 'mtbf': ", ranks, " ranks are no machines of ",
            members_of_machine_, " members");
    for (int machine = 0; machine < ranks / members_of_machine_; ++machine) come(0);
  }

 private:
  struct Happening {
    double second;
    int machine;  ///< that goes; below 0: one comes
    bool operator>(const Happening& other) const {
      return std::pair(second, machine) > std::pair(other.second, other.machine);
    }
  };

  /// The next machine begins to live.
  void come(double second) {
    const int machine = machines_++;
    // No worker draws as rank -1.
    const Philox draws(Key{.seed = seed_, .step = machine, .rank = -1, .phase = Phase::node});
    coming_.push({second - mean_ * std::log1p(-static_cast<double>(draws.uniform(0))), machine});
  }

  bool happen() override {
    if (coming_.empty()) return false;
    const Happening now = coming_.top();
    coming_.pop();
    if (now.machine < 0) {
      come(now.second);
      join(members_of_machine_, now.second);
      return true;
    }
    for (int i = 0; i < members_of_machine_; ++i) go(now.machine * members_of_machine_ + i, now.second);
    if (replacement_ > 0) coming_.push({now.second + replacement_, -1});
    return true;
  }

  double mean_, replacement_;
  int members_of_machine_;
  std::uint64_t seed_ = 0;
  int machines_ = 0;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> coming_;
};

const Memberships::Registration registration(
    "mtbf",
    {"machines live for an exponentially distributed time, and are replaced", "",
     "to see what failures cost before they happen",
     "where failures come together, as those of a rack or of a price: take availability, or a schedule of your own"},
    [](Params& params) { return std::make_unique<MeanTimeBetweenFailures>(params); });

}  // namespace
}  // namespace trigram
