#include "core/members/member_training.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

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

/// The epochs of one training, one after the other.
class MemberCourse {
 public:
  MemberCourse(Backend& backend, const World& world, const TrainingOptions& options,
               const std::vector<MemberEpoch>& epochs, double detection_s)
      : backend_(backend), world_(world), options_(options), epochs_(epochs), detection_s_(detection_s) {}

  MemberTraining run() {
    for (std::size_t i = 0; i < epochs_.size(); ++i) {
      const std::int64_t end = i + 1 < epochs_.size() ? epochs_[i + 1].begin : options_.steps;
      train(i, end);
      record(i, end);
    }
    finish_rows();
    return std::move(all_);
  }

 private:
  void train(std::size_t index, std::int64_t end) {
    const MemberEpoch& epoch = epochs_[index];
    TrainingOptions options = options_;
    if (end < options.steps) options.until = end;
    options.checkpoint.keep = true;
    options.checkpoint.save = {};
    keep_from(options, epoch.begin);
    if (index == 0) {
      all_.training = run_training(backend_, world_of(world_, epoch), options);
      return;
    }
    const Training before = std::move(all_.training);
    const Handover handover(change_to(index),
                            [&](int rank) { return before.ranks[static_cast<std::size_t>(rank)].state; });
    options.checkpoint.load = [&](int rank) { return handover.of(rank); };
    options.checkpoint.take_up = {epoch.lost.empty() ? 0 : detection_s_ + last_step_, fetches_of(epoch),
                                  backend_.simulated()};
    all_.training = run_training(backend_, world_of(world_, epoch), options);
  }

  /// Rows of the epochs before have been told.
  static void keep_from(TrainingOptions& options, std::int64_t begin) {
    if (options.on_row) {
      options.on_row = [tell = options.on_row, begin](const StepRow& row, const Records& recorded) {
        if (row.step >= begin) tell(row, recorded);
      };
    }
    if (!options.on_evaluation) return;
    options.on_evaluation = [tell = options.on_evaluation, begin](const EvalRow& row) {
      if (begin == 0 || row.step > begin) tell(row);
    };
  }

  MemberChange change_to(std::size_t index) const {
    const MemberEpoch &before = epochs_[index - 1], &now = epochs_[index];
    const auto ranks = static_cast<int>(before.members.size()), next = static_cast<int>(now.members.size());
    MemberChange change{ranks, training_ranks(options_, ranks), now.were, training_ranks(options_, next), {}};
    for (int rank = 0; rank < ranks; ++rank) {
      if (std::ranges::count(now.lost, before.members[static_cast<std::size_t>(rank)]) > 0) change.lost.push_back(rank);
    }
    return change;
  }

  void record(std::size_t index, std::int64_t end) {
    const MemberEpoch& epoch = epochs_[index];
    const std::vector<StepRow>& rows = all_.training.ranks.front().steps;
    EpochRecord record{.epoch = epoch, .steps = end - epoch.begin};
    for (const StepRow& row : rows) {
      if (row.step == epoch.begin) record.begin_s = row.time_s - duration_of(row);
    }
    if (!rows.empty()) record.end_s = rows.back().time_s;
    if (!all_.epochs.empty()) {
      record.recovery_s = record.begin_s - all_.epochs.back().end_s;
      record.lost_s = epoch.lost.empty() || !backend_.simulated() ? 0 : detection_s_ + last_step_;
    }
    if (!rows.empty()) last_step_ = duration_of(rows.back());
    add_rows(rows_, all_.training.ranks.front(), epoch.begin);
    all_.epochs.push_back(record);
  }

  void finish_rows() {
    RankReport& first = all_.training.ranks.front();
    first.steps = std::move(rows_.steps);
    first.recorded = std::move(rows_.recorded);
    for (auto& [column, values] : first.recorded)
      values.resize(first.steps.size(), std::numeric_limits<double>::quiet_NaN());
  }

  Backend& backend_;
  const World& world_;
  const TrainingOptions& options_;
  const std::vector<MemberEpoch>& epochs_;
  double detection_s_;
  double last_step_ = 0;  ///< seconds
  RankReport rows_;       ///< of rank 0
  MemberTraining all_;
};

}  // namespace

void check_members(const TrainingOptions& options, const World& world, const Backend& backend,
                   const std::vector<MemberEpoch>& epochs) {
  if (epochs.empty()) return;
  require(!backend.spans_processes(),
          "members change on the backends sim and threads alone, whose ranks one process starts and ends; where a "
          "launcher started them, they stay as many");
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
                                  const std::vector<MemberEpoch>& epochs, double detection_s) {
  return MemberCourse(backend, world, options, epochs, detection_s).run();
}

}  // namespace trigram
