#include "core/members/member_training.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/members/coming_events.hpp"
#include "core/members/member_use.hpp"
#include "core/training/handover.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"

namespace trigram {
namespace {

World world_of(const World& world, const MemberEpoch& epoch) {
  World own = world;
  own.ranks = static_cast<int>(epoch.members.size());
  return own;
}

/// Whoever joins asks a member that stays, one after the other.
std::vector<int> fetches_of(const MemberEpoch& epoch) {
  std::vector<int> staying, from;
  const int ranks = static_cast<int>(epoch.were.size());
  for (int rank = 0; rank < ranks; ++rank) {
    if (epoch.were[static_cast<std::size_t>(rank)] != MemberChange::newcomer) staying.push_back(rank);
  }
  std::size_t next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const bool is_new = epoch.were[static_cast<std::size_t>(rank)] == MemberChange::newcomer && !staying.empty();
    from.push_back(is_new ? staying[next++ % staying.size()] : rank);
  }
  return from;
}

double duration_of(const StepRow& row) { return row.compute_s + row.exposed_s; }

/// Rows of rank 0 of one epoch after those of the epochs before, whoever it was.
void add_rows(RankReport& all, const RankReport& first, std::int64_t begin) {
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    if (first.steps[i].step < begin) continue;
    all.steps.push_back(first.steps[i]);
    all.steps.back().rank = 0;
    for (const auto& [column, values] : first.recorded) {
      std::vector<double>& own = all.recorded[column];
      own.resize(all.steps.size() - 1, std::numeric_limits<double>::quiet_NaN());
      own.push_back(values[i]);
    }
  }
}

/// The step after which what comes at `second` changes members; nothing where the rows end before it.
std::optional<std::int64_t> border_at(const std::vector<StepRow>& rows, std::int64_t begin, double second, bool cuts) {
  for (const StepRow& row : rows) {
    if (row.step < begin || row.time_s < second) continue;
    return cuts && row.step > begin ? row.step : row.step + 1;
  }
  return std::nullopt;
}

/// Rows and evaluations that are told once it is known that they count.
class Untold {
 public:
  /// Those of before `begin` have been told.
  void listen(TrainingOptions& options, std::int64_t begin) {
    if (options.on_row) {
      options.on_row = [this, tell = options.on_row, begin](const StepRow& row, const Records& recorded) {
        if (row.step >= begin) rows_.push_back([=] { tell(row, recorded); });
      };
    }
    if (!options.on_evaluation) return;
    options.on_evaluation = [this, tell = options.on_evaluation, begin](const EvalRow& row) {
      if (begin == 0 || row.step > begin) rows_.push_back([=] { tell(row); });
    };
  }
  void tell() const {
    for (const auto& row : rows_) row();
  }

 private:
  std::vector<std::function<void()>> rows_;
};

/// The epochs of one training, one after the other.
class MemberCourse {
 public:
  MemberCourse(Backend& backend, const World& world, const TrainingOptions& options, Membership& membership,
               ChangeTimes times)
      : backend_(backend),
        world_(world),
        options_(options),
        coming_(membership),
        times_(times),
        bears_absence_(bears_absence(options)),
        roll_(world.ranks) {}

  MemberTraining run() {
    coming_.begin(world_.ranks, options_.relaxation.seed);
    while (true) {
      const std::int64_t end = train_until_change();
      record(end);
      if (end == options_.steps) break;
      turn(end);
    }
    finish();
    return std::move(all_);
  }

 private:
  const MemberEpoch& epoch() const { return roll_.epoch(); }
  bool is_first() const { return all_.epochs.empty(); }
  const std::vector<StepRow>& rows() const { return all_.training.ranks.front().steps; }

  /// The steps that are done then.
  std::int64_t train_until_change() {
    if (!coming_.first() || !coming_.first()->second) {
      const std::int64_t end = coming_.first() ? std::min(coming_.first()->step, options_.steps) : options_.steps;
      train(end).tell();
      return end;
    }
    // Simulated again from the same state, the same steps take the same time, so that a trial shows which step it is.
    std::int64_t end = guess(last_step_);
    for (bool known = false;;) {
      const Untold untold = train(end);
      const std::optional<std::int64_t> border = known ? end : border_of_coming();
      if (border && bears_absence_ && !lost_until(time_of_border(*border)).empty()) return train_with_losses(*border);
      if (border == end || (!border && end == options_.steps)) {
        untold.tell();
        return end;
      }
      known = border.has_value();
      end = border ? *border : std::max(end + 1, guess(duration_of(rows().back())));
    }
  }

  /// Whoever is lost until the border is left out by the others, who come to it later for that, and may lose more until
  /// then. So it is tried again until no loss is new.
  std::int64_t train_with_losses(std::int64_t border) {
    without_losses_ = time_of_border(border);
    const double first_s = first_loss();
    Untold untold;
    for (double until = without_losses_;;) {
      std::vector<LostRank> lost = lost_until(until);
      for (LostRank& one : lost) one.second = std::max(one.second, first_s);
      if (lost.size() == losses_.size() || lost.size() == epoch().members.size()) break;
      losses_ = std::move(lost);
      untold = train(border);
      until = std::max(until, all_.training.seconds);
    }
    untold.tell();
    return border;
  }

  /// Ranks that meet are all there: who is lost before is lost at once when the first step has begun.
  double first_loss() const {
    const auto row = std::ranges::find(rows(), epoch().begin, &StepRow::step);
    constexpr double at_once = 1e-6;
    return row->time_s - (1 - at_once) * duration_of(*row);
  }

  /// Ranks of this epoch that are lost by then.
  std::vector<LostRank> lost_until(double second) {
    std::vector<LostRank> lost;
    for (const MemberEvent& event : coming_.until(second)) {
      const auto member = std::ranges::find(epoch().members, event.member);
      if (event.kind != MemberEvent::Kind::lose || member == epoch().members.end()) continue;
      const double told_before = event.grace == MemberEvent::no_end ? 0 : event.grace;
      lost.push_back({static_cast<int>(member - epoch().members.begin()), *event.second + told_before});
    }
    return lost;
  }

  bool is_lost(const std::vector<LostRank>& losses, int rank) const {
    return std::ranges::find(losses, rank, &LostRank::rank) != losses.end();
  }

  /// By steps of that length.
  std::int64_t guess(double step_s) {
    constexpr std::int64_t few = 16;
    if (step_s <= 0) return std::min(epoch().begin + few, options_.steps);
    const double now = is_first() ? 0 : all_.epochs.back().end_s;
    const double steps = std::ceil(std::max(0.0, *coming_.first()->second - now) / step_s) + 1;
    const auto left = static_cast<double>(options_.steps - epoch().begin);
    return epoch().begin + static_cast<std::int64_t>(std::min(steps, left));
  }

  /// Who does not reach a border in time is lost.
  std::optional<std::int64_t> border_of_coming() {
    MemberEvent& coming = *coming_.first();
    const auto border_if = [&](bool cuts) {
      return border_at(rows(), epoch().begin, *coming.second, cuts && !bears_absence_);
    };
    const std::optional<std::int64_t> border = border_if(coming.kind == MemberEvent::Kind::lose);
    if (!border || coming.kind != MemberEvent::Kind::leave) return border;
    if (time_of_border(*border) <= *coming.second + coming.grace) return border;
    coming.kind = MemberEvent::Kind::lose;
    return border_if(true);
  }

  double time_of_border(std::int64_t steps) const {
    const auto row = std::ranges::find(rows(), steps - 1, &StepRow::step);
    return row == rows().end() ? 0 : row->time_s;
  }

  /// When its first step could begin.
  double begin_of_epoch() const {
    const auto row = std::ranges::find(rows(), epoch().begin, &StepRow::step);
    return row == rows().end() ? 0 : row->time_s - duration_of(*row);
  }

  Untold train(std::int64_t end) {
    Untold untold;
    TrainingOptions options = options_;
    options.record_all = options.record_all || is_lost(losses_, 0);
    if (end < options.steps) options.until = end;
    options.checkpoint.keep = true;
    options.checkpoint.save = {};
    untold.listen(options, epoch().begin);
    located(
        [&] {
          return is_first() ? std::string()
                            : "from step " + std::to_string(epoch().begin) + " on, with " +
                                  std::to_string(epoch().members.size()) + " members: ";
        },
        [&] { train(options); });
    if (is_lost(losses_, 0)) go_on_with_rows_of_others();
    return untold;
  }

  void train(TrainingOptions& options) {
    if (is_first()) {
      all_.training = run_training(backend_, world(), options);
      return;
    }
    const Handover handover(change(), [&](int rank) {
      const RankReport& report = before_.ranks[static_cast<std::size_t>(rank)];
      return is_lost(left_out_, rank) ? state_of_lost(report) : report.state;
    });
    options.checkpoint.load = [&](int rank) { return handover.of(rank); };
    const double until_noticed = left_out_.empty() ? lost_s_ : 0;
    options.checkpoint.take_up = {until_noticed + times_.meeting_s, fetches_of(epoch()), backend_.simulated()};
    all_.training = run_training(backend_, world(), options);
  }

  World world() const {
    World own = world_of(world_, epoch());
    own.losses = losses_;
    own.detection_s = times_.detection_s;
    return own;
  }

  /// From where rank 0 was lost.
  void go_on_with_rows_of_others() {
    std::vector<RankReport>& ranks = all_.training.ranks;
    std::size_t other = 0;
    while (is_lost(losses_, static_cast<int>(other))) ++other;
    RankReport& first = ranks.front();
    add_rows(first, ranks[other], first.steps.empty() ? epoch().begin : first.steps.back().step + 1);
    first = filled(std::move(first));
  }

  MemberChange change() const {
    const std::vector<int>& before = all_.epochs.back().epoch.members;
    const auto ranks = static_cast<int>(before.size()), next = static_cast<int>(epoch().members.size());
    MemberChange change{ranks, training_ranks(options_, ranks), epoch().were, training_ranks(options_, next), {}};
    for (int rank = 0; rank < ranks; ++rank) {
      if (std::ranges::count(epoch().lost, before[static_cast<std::size_t>(rank)]) > 0) change.lost.push_back(rank);
    }
    return change;
  }

  /// With all that has come until ranks meet again, which after a loss is when it is noticed.
  void turn(std::int64_t end) {
    before_ = std::move(all_.training);
    left_out_ = std::exchange(losses_, {});
    const double end_s = all_.epochs.back().end_s;
    const double until_noticed =
        left_out_.empty() ? times_.detection_s + last_step_ : std::max(0.0, before_.seconds - end_s);
    const bool has_lost = coming_.first()->kind == MemberEvent::Kind::lose || !left_out_.empty();
    const double now = std::max(end_s + (has_lost ? until_noticed : 0), coming_.first()->second.value_or(0));
    roll_.turn(end);
    for (const MemberEvent* next = coming_.first(); next != nullptr; next = coming_.first()) {
      if (next->second ? *next->second > now : next->step > end) break;
      roll_.change(*next);
      coming_.take();
    }
    lost_s_ = epoch().lost.empty() ? 0 : until_noticed;
  }

  void record(std::int64_t end) {
    EpochRecord record{.epoch = epoch(), .steps = end - epoch().begin, .begin_s = begin_of_epoch()};
    const double waited = losses_.empty() ? 0 : std::max(0.0, rows().back().time_s - without_losses_);
    if (!rows().empty()) record.end_s = rows().back().time_s - waited;
    if (!is_first()) {
      record.recovery_s = record.begin_s - all_.epochs.back().end_s;
      record.lost_s = backend_.simulated() ? lost_s_ : 0;
    }
    if (!rows().empty()) last_step_ = duration_of(rows().back()) - waited;
    add_rows(rows_, all_.training.ranks.front(), epoch().begin);
    use_.add(epoch(), all_.training, record.end_s);
    all_.epochs.push_back(record);
  }

  void finish() {
    use_.correct(all_.training, losses_);
    RankReport& first = all_.training.ranks.front();
    first.steps = std::move(rows_.steps);
    first.recorded = std::move(rows_.recorded);
    first = filled(std::move(first));
  }

  Backend& backend_;
  const World& world_;
  const TrainingOptions& options_;
  ComingEvents coming_;
  ChangeTimes times_;
  bool bears_absence_;  ///< so that whoever is lost within an epoch is left out until its end
  MemberRoll roll_;
  std::vector<LostRank> losses_;    ///< in this epoch, of ranks that are left out
  std::vector<LostRank> left_out_;  ///< in the epoch before
  double without_losses_ = 0;       ///< when this epoch would end
  double last_step_ = 0;            ///< seconds
  double lost_s_ = 0;               ///< before this epoch, of a step that was cut off and until that was noticed
  Training before_;                 ///< of the epoch before
  RankReport rows_;                 ///< of rank 0
  MemberUse use_;
  MemberTraining all_;
};

}  // namespace

void check_members(const TrainingOptions& options, const World& world, const Backend& backend,
                   const std::vector<MemberEpoch>& epochs) {
  require(
      !backend.spans_processes(),
      "members change on the backends sim, threads and net, which start and end their ranks themselves; a job that a "
      "launcher started, as of mpi, ends with any of its ranks, and nobody can join it");
  require(world.axes().axes().size() == 1, "members change where all ranks are replicas, and the mesh is ",
          world.axes().text(), ", in which each has a place of its own; leave it out");
  for (const MemberEpoch& epoch : epochs) {
    located(
        [&] {
          return "from step " + std::to_string(epoch.begin) + " on, with " + std::to_string(epoch.members.size()) +
                 " members: ";
        },
        [&] { check(options, world_of(world, epoch), backend); });
  }
}

MemberTraining train_with_members(Backend& backend, const World& world, const TrainingOptions& options,
                                  Membership& membership, ChangeTimes times) {
  require(backend.simulated() || !membership.by_clock(),
          "members that change by the clock do so where time is simulated, on backend sim; give a schedule by steps");
  return MemberCourse(backend, world, options, membership, times).run();
}

}  // namespace trigram
