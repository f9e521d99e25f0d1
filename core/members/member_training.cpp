#include "core/members/member_training.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

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
        membership_(membership),
        times_(times),
        roll_(world.ranks) {}

  MemberTraining run() {
    membership_.begin(world_.ranks, options_.relaxation.seed);
    coming_ = membership_.next();
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
    if (!coming_ || !coming_->second) {
      const std::int64_t end = coming_ ? std::min(coming_->step, options_.steps) : options_.steps;
      train(end).tell();
      return end;
    }
    // Simulated again from the same state, the same steps take the same time, so that a trial shows which step it is.
    std::int64_t end = guess(last_step_);
    for (bool known = false;;) {
      const Untold untold = train(end);
      const std::optional<std::int64_t> border = known ? end : border_of_coming();
      if (border == end || (!border && end == options_.steps)) {
        untold.tell();
        return end;
      }
      known = border.has_value();
      end = border ? *border : std::max(end + 1, guess(duration_of(rows().back())));
    }
  }

  /// By steps of that length.
  std::int64_t guess(double step_s) const {
    constexpr std::int64_t few = 16;
    if (step_s <= 0) return std::min(epoch().begin + few, options_.steps);
    const double now = is_first() ? 0 : all_.epochs.back().end_s;
    const double steps = std::ceil(std::max(0.0, *coming_->second - now) / step_s) + 1;
    const auto left = static_cast<double>(options_.steps - epoch().begin);
    return epoch().begin + static_cast<std::int64_t>(std::min(steps, left));
  }

  /// Who does not reach a border in time is lost.
  std::optional<std::int64_t> border_of_coming() {
    const auto border_if = [&](bool cuts) { return border_at(rows(), epoch().begin, *coming_->second, cuts); };
    const std::optional<std::int64_t> border = border_if(coming_->kind == MemberEvent::Kind::lose);
    if (!border || coming_->kind != MemberEvent::Kind::leave) return border;
    if (time_of_border(*border) <= *coming_->second + coming_->grace) return border;
    coming_->kind = MemberEvent::Kind::lose;
    return border_if(true);
  }

  double time_of_border(std::int64_t steps) const {
    const auto row = std::ranges::find(rows(), steps - 1, &StepRow::step);
    return row == rows().end() ? 0 : row->time_s;
  }

  Untold train(std::int64_t end) {
    Untold untold;
    TrainingOptions options = options_;
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
    return untold;
  }

  void train(TrainingOptions& options) {
    if (is_first()) {
      all_.training = run_training(backend_, world_of(world_, epoch()), options);
      return;
    }
    const Handover handover(change(), [&](int rank) { return before_.ranks[static_cast<std::size_t>(rank)].state; });
    options.checkpoint.load = [&](int rank) { return handover.of(rank); };
    options.checkpoint.take_up = {lost_s() + times_.meeting_s, fetches_of(epoch()), backend_.simulated()};
    all_.training = run_training(backend_, world_of(world_, epoch()), options);
  }

  /// Of the step that was cut off, and until that was noticed.
  double lost_s() const { return epoch().lost.empty() ? 0 : times_.detection_s + last_step_; }

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
    const double noticed = coming_->kind == MemberEvent::Kind::lose ? times_.detection_s + last_step_ : 0;
    const double now = std::max(all_.epochs.back().end_s + noticed, coming_->second.value_or(0));
    roll_.turn(end);
    while (coming_ && (coming_->second ? *coming_->second <= now : coming_->step <= end)) {
      roll_.change(*coming_);
      coming_ = membership_.next();
    }
  }

  void record(std::int64_t end) {
    EpochRecord record{.epoch = epoch(), .steps = end - epoch().begin};
    for (const StepRow& row : rows()) {
      if (row.step == epoch().begin) record.begin_s = row.time_s - duration_of(row);
    }
    if (!rows().empty()) record.end_s = rows().back().time_s;
    if (!is_first()) {
      record.recovery_s = record.begin_s - all_.epochs.back().end_s;
      record.lost_s = backend_.simulated() ? lost_s() : 0;
    }
    if (!rows().empty()) last_step_ = duration_of(rows().back());
    add_rows(rows_, all_.training.ranks.front(), epoch().begin);
    use_.add(epoch(), all_.training, record.end_s);
    all_.epochs.push_back(record);
  }

  void finish() {
    RankReport& first = all_.training.ranks.front();
    first.steps = std::move(rows_.steps);
    first.recorded = std::move(rows_.recorded);
    for (auto& [column, values] : first.recorded)
      values.resize(first.steps.size(), std::numeric_limits<double>::quiet_NaN());
    use_.correct(all_.training);
  }

  Backend& backend_;
  const World& world_;
  const TrainingOptions& options_;
  Membership& membership_;
  ChangeTimes times_;
  MemberRoll roll_;
  std::optional<MemberEvent> coming_;
  double last_step_ = 0;  ///< seconds
  Training before_;       ///< of the epoch before
  RankReport rows_;       ///< of rank 0
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
