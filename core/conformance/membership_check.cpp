#include "core/conformance/membership_check.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/conformance/mean_path.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

using Replicas = Invariants::Replicas;
constexpr int newcomer = MemberChange::newcomer;

/// Worlds that follow each other; `were` of each but the first says who of the one before is who.
struct Course {
  std::string what;
  std::vector<std::vector<int>> were;
  Hierarchy hierarchy = Hierarchy::none;
};

std::vector<int> all_but_node(const std::vector<int>& nodes, int node) {
  std::vector<int> left;
  for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
    if (nodes[static_cast<std::size_t>(rank)] != node) left.push_back(rank);
  }
  return left;
}

std::vector<Course> courses_of(const Trial& trial) {
  std::vector<int> all, odd, first_left;
  for (int rank = 0; rank < trial.ranks(); ++rank) {
    all.push_back(rank);
    if (rank > 0) first_left.push_back(rank);
    if (rank % 2 == 1) odd.push_back(rank);
  }
  std::vector<int> one_more = all, half = odd, back(all.size(), newcomer);
  one_more.push_back(newcomer);
  half.push_back(newcomer);
  back.back() = 0;
  std::vector<Course> courses{{"rank 0 leaves", {first_left}},
                              {"one joins", {one_more}},
                              {"even ranks leave and one joins", {half}},
                              {"all but the last leave, and as many join", {{trial.ranks() - 1}, back}}};
  const std::vector<int> node_left = all_but_node(trial.nodes(), trial.nodes().front());
  if (!trial.has_nodes() || node_left.empty()) return courses;
  for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics})
    courses.push_back({"a node leaves", {node_left}, hierarchy});
  return courses;
}

/// Worlds one behind the other, each with the same number of steps.
class MembershipCheck {
 public:
  /// `begun` has the first world's trainings, which courses share.
  MembershipCheck(const Trial& first, Course course, std::int64_t steps, std::map<Hierarchy, Training>& begun)
      : first_(first), course_(std::move(course)), steps_(steps), begun_(begun) {
    for (const auto& were : course_.were)
      later_.push_back(std::make_unique<Trial>(first.spec(), first.backend(), static_cast<int>(were.size())));
  }

  bool is_refused() const {
    for (std::size_t world = 0; world <= later_.size(); ++world) {
      const Option option = course_.hierarchy == Hierarchy::leader ? Option::leader : Option::all_nics;
      if (course_.hierarchy != Hierarchy::none && at(world).refuses(option)) return true;
      if (course_.hierarchy == Hierarchy::all_nics && !at(world).has_equal_nodes()) return true;
      if (!at(world).refusal({.steps = 1, .hierarchy = course_.hierarchy}).empty()) return true;
    }
    return false;
  }

  std::vector<Violation> run() {
    try {
      const Training& before = train_to_last();
      const Training last = of_world(later_.size(), before, worlds() * steps_);
      replicas(last);
      mean(last);
      settling(before, last);
    } catch (const Error& error) {
      report(error.what());
    }
    return std::move(found_);
  }

 private:
  std::int64_t worlds() const { return static_cast<std::int64_t>(later_.size()) + 1; }
  const Trial& at(std::size_t world) const { return world == 0 ? first_ : *later_[world - 1]; }
  const Trial& last() const { return *later_.back(); }

  void report(const std::string& text) {
    const std::string where =
        course_.hierarchy == Hierarchy::none ? "" : ", with hierarchy " + std::string(name_of(course_.hierarchy));
    found_.push_back({"membership", course_.what + where + ": " + text});
  }

  void report_any(const std::string& text) {
    if (!text.empty()) report(text);
  }

  /// All worlds but the last, each a step longer than to its only checkpoint, which the next one goes on from.
  const Training& train_to_last() {
    if (!begun_.contains(course_.hierarchy)) begun_[course_.hierarchy] = of_world(0, {}, steps_ + 1);
    const Training* before = &begun_[course_.hierarchy];
    for (std::size_t world = 1; world < later_.size(); ++world) {
      between_ = of_world(world, *before, static_cast<std::int64_t>(world + 1) * steps_ + 1);
      before = &between_;
    }
    return *before;
  }
  Training of_world(std::size_t world, const Training& before, std::int64_t steps,
                    const std::string& workload = "known_gradients") const {
    TrialRun run{.steps = steps, .hierarchy = course_.hierarchy, .workload = workload};
    if (world < later_.size()) run.checkpoint_every = steps - 1;
    if (world == 0) return at(world).train(run);
    const Handover handover({static_cast<int>(before.ranks.size()), at(world - 1).training_ranks(),
                             course_.were[world - 1], at(world).training_ranks()},
                            [&](int rank) { return before.ranks[static_cast<std::size_t>(rank)].state; });
    run.handover = &handover;
    return at(world).train(run);
  }

  void replicas(const Training& training) {
    const Replicas promised = last().invariants(course_.hierarchy).replicas;
    if (promised == Replicas::free) return;
    const std::int64_t final_step = worlds() * steps_ - 1;
    if (promised == Replicas::equal_after_exchanges && !last().exchanges(final_step)) return;
    const auto weights = weights_of(training);
    if (std::ranges::any_of(weights, [&](const auto& one) { return one != weights.front(); }))
      report("at the end ranks have different weights; they must be equal");
  }

  /// What the mean may be off by is the most that any of the worlds declares; none where one declares nothing.
  std::optional<double> promised_mean() const {
    double most = 0;
    for (std::size_t world = 0; world <= later_.size(); ++world) {
      const Invariants held = at(world).invariants(course_.hierarchy);
      if (!held.mean_error || (at(world).decentralized() && uneven(at(world)))) return std::nullopt;
      most = std::max(most, *held.mean_error);
    }
    return most;
  }
  /// A node is one vertex of a decentralized method, whatever its size.
  bool uneven(const Trial& trial) const { return course_.hierarchy != Hierarchy::none && !trial.has_equal_nodes(); }

  std::vector<Stretch> stretches() const {
    std::vector<Stretch> all;
    for (std::size_t world = 0; world <= later_.size(); ++world) all.push_back({steps_, at(world).training_ranks()});
    return all;
  }

  void mean(const Training& training) {
    const std::optional<double> promised = promised_mean();
    if (!promised) return;
    report_any(beyond_mean_error(worlds() * steps_, off_mean_path(training, stretches(), 1), *promised));
  }

  void settling(const Training& before, const Training& training) {
    const std::optional<double> share = last().invariants(course_.hierarchy).settles;
    if (!share) return;
    const std::int64_t busy = worlds() * steps_;
    const Training quiet =
        of_world(later_.size(), before, (1 + settling_steps) * busy, "known_gradients:until=" + std::to_string(busy));
    report_any(
        unsettled(busy, off_mean_path(training, stretches(), *share), off_mean_path(quiet, stretches(), *share)));
  }

  const Trial& first_;
  Course course_;
  std::int64_t steps_;  ///< of each world
  std::map<Hierarchy, Training>& begun_;
  Training between_;
  std::vector<std::unique_ptr<Trial>> later_;
  std::vector<Violation> found_;
};

/// Whether each of its worlds has ranks, and room on the backend, as a simulated cluster has for so many alone.
bool is_possible(const Course& course, const Backend& backend) {
  return std::ranges::all_of(course.were, [&](const auto& were) {
    if (were.empty()) return false;
    try {
      backend.nodes(static_cast<int>(were.size()));
      return true;
    } catch (const UsageError&) {
      return false;
    }
  });
}

}  // namespace

std::vector<Violation> wrong_memberships(const Trial& trial, std::int64_t steps) {
  std::vector<Violation> found;
  std::map<Hierarchy, Training> begun;
  for (const Course& course : courses_of(trial)) {
    if (!is_possible(course, trial.backend())) continue;
    MembershipCheck check(trial, course, steps, begun);
    if (check.is_refused()) continue;
    for (Violation& violation : check.run()) found.push_back(std::move(violation));
  }
  return found;
}

}  // namespace trigram
