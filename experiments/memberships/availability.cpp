// As many members as a trace of a cloud says that there were, as of spot instances.
#include <algorithm>
#include <sstream>

#include "core/members/drawn_membership.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "core/values/random.hpp"
#include "core/values/units.hpp"
#include "experiments/workloads/data/read_file.hpp"

namespace trigram {
namespace {

constexpr double most_bytes = 64 << 20;
constexpr const char* columns = "seconds,members";

/// From this second on there are so many.
struct Count {
  double second;
  int members;
};

Count count_of(const std::string& line) {
  const std::size_t comma = line.find(',');
  require(comma != std::string::npos, Quoted(line), " is no row of ", columns);
  const std::optional<double> second = finite_number(line.substr(0, comma));
  const std::optional<std::int64_t> members = whole_number(line.substr(comma + 1));
  require(second && members && *second >= 0 && *members >= 0 && *members <= 1'000'000, Quoted(line), " is no row of ",
          columns, ": seconds from the begin of the trace, and a number of members");
  return {*second, static_cast<int>(*members)};
}

std::vector<Count> read_counts(const std::string& path) {
  std::istringstream text(read_file(path, most_bytes));
  std::vector<Count> counts;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#') || line == columns) continue;
    located([&] { return path + ":" + std::to_string(number) + ": "; },
            [&] {
              counts.push_back(count_of(line));
              require(counts.size() < 2 || counts.back().second >= counts[counts.size() - 2].second,
                      "its time comes before that of the row above");
            });
  }
  require(!counts.empty(), path, ": it has no row of ", columns);
  return counts;
}

/// Which member goes is drawn.
class Availability final : public DrawnMembership {
 public:
  explicit Availability(Params& params)
      : DrawnMembership(params),
        file_(params.get("file", "", "a table of seconds and members: from when on there are how many")) {}

  void begin(int ranks, std::uint64_t seed) override {
    seed_ = seed;
    require(!file_.empty(), "membership 'availability': file= names no table of ", columns);
    counts_ = read_counts(file_);
    require(counts_.front().members == ranks, file_, ": there are ", counts_.front().members,
            " members at first, and the run has ", ranks, " ranks; give --ranks ", counts_.front().members);
    for (; next_ < ranks; ++next_) members_.push_back(next_);
  }

 private:
  bool happen() override {
    if (at_ == counts_.size()) return false;
    const Count& to = counts_[at_++];
    const int more = to.members - static_cast<int>(members_.size());
    if (more > 0) join(more, to.second);
    for (int i = 0; i < more; ++i) members_.push_back(next_++);
    for (int i = more; i < 0; ++i) {
      // No worker draws as rank -2.
      const Philox draws(Key{.seed = seed_, .step = gone_++, .rank = -2, .phase = Phase::node});
      const auto who = members_.begin() + static_cast<std::ptrdiff_t>(draws.below(0, members_.size()));
      go(*who, to.second);
      members_.erase(who);
    }
    return true;
  }

  std::string file_;
  std::uint64_t seed_ = 0;
  std::vector<Count> counts_;
  std::size_t at_ = 0;
  std::vector<int> members_;
  int next_ = 0;
  std::int64_t gone_ = 0;
};

const Memberships::Registration registration("availability",
                                             {"as many members as a trace of a cloud's spot instances says", "",
                                              "where such a trace is there, since real instances go and come together",
                                              "to vary how often machines fail: take mtbf"},
                                             [](Params& params) { return std::make_unique<Availability>(params); });

}  // namespace
}  // namespace trigram
