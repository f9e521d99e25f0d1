#include "core/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/evaluation.hpp"
#include "core/schedule.hpp"
#include "core/training_step.hpp"
#include "core/workload.hpp"

namespace trigram {
namespace {

/// What one rank's lanes had done by some moment.
struct Progress {
  double time = 0;
  double compute = 0, encode = 0, wire = 0, decode = 0;
  Cost sent;

  static Progress of(RankRuntime& runtime) {
    Progress progress;
    progress.time = runtime.now();
    for (int i = 0; i < runtime.lanes(); ++i) runtime.lane(i).timeline.settle();
    progress.compute = runtime.lane(0).timeline.busy(Activity::compute);
    for (int i = 0; i < runtime.lanes(); ++i) {
      const Lane& lane = runtime.lane(i);
      progress.encode += lane.timeline.busy(Activity::encode);
      progress.wire += lane.timeline.busy(Activity::wire);
      progress.decode += lane.timeline.busy(Activity::decode);
      progress.sent += lane.meter.total();
    }
    return progress;
  }
};

Cost difference(Cost after, Cost before) { return {after.rounds - before.rounds, after.bytes - before.bytes}; }

TrainingStep::Parts parts_of(const TrainingOptions& options, const Workload& workload) {
  TrainingStep::Parts parts = TrainingStep::make_parts(options.algorithm, options.optimizer);
  parts.update_is_timed = workload.times_update();
  return parts;
}

/// Tables have each name once.
void require_own_column(const std::string& column) {
  const auto taken = [&](const auto& columns) {
    return std::find(std::begin(columns), std::end(columns), column) != std::end(columns);
  };
  ensure(!taken(StepRow::columns) && !taken(EvalRow::columns), "the algorithm recorded '", column,
         "', which is a column of steps.csv or evals.csv already; give it another name");
}

/// One rank's products and the loop over them.
class Trainer {
 public:
  Trainer(RankRuntime& runtime, const TrainingOptions& options)
      : runtime_(runtime),
        options_(options),
        worker_(runtime, 0, options.relaxation),
        trains_(worker_.rank() < training_ranks(options, worker_.world())),
        workload_(open_workload(options, worker_.rank(), worker_.world())),
        parameters_(workload_->parameters()),
        store_(worker_.device, parameters_, plan_buckets(parameters_, options.buckets, workload_->phantom())),
        step_(worker_, store_.buckets(), parts_of(options, *workload_)),
        schedule_(Schedules::make(options.schedule)),
        evaluations_(worker_, *workload_, store_.parameters(), options,
                     [this](const EvalRow& row) { report_.evals.push_back(row); }) {}

  RankReport run() {
    report_.rank = worker_.rank();
    if (trains_) report_.local_batch = workload_->local_batch();
    workload_->setup(worker_, store_.parameters());
    step_.setup(options_.steps);
    evaluations_.begin();
    const Progress start = Progress::of(runtime_);
    Progress before = start;
    for (worker_.step = 0; worker_.step < options_.steps; ++worker_.step) {
      if (trains_) {
        step();
        before = record(before);
      }
      if (options_.on_step && worker_.rank() == 0) options_.on_step(worker_.step + 1);
      evaluations_.after_step(reached(worker_.step + 1));
    }
    report_.training_seconds = before.time - start.time;
    for (auto& [column, values] : report_.recorded)
      values.resize(report_.steps.size(), std::numeric_limits<double>::quiet_NaN());
    step_.finish();
    (trains_ ? report_.setup_and_finish : report_.sent) =
        start.sent + difference(Progress::of(runtime_).sent, before.sent);
    evaluations_.end(reached(report_.steps_done));
    if (options_.keep_weights && trains_ && !workload_->phantom())
      report_.weights = download_weights(worker_.device, store_.parameters());
    if (options_.keep_spans) keep_spans();
    return std::move(report_);
  }

  /// Bodies that still run use what the trainer owns.
  void abandon() { step_.abandon(); }

 private:
  void step() {
    step_.begin(worker_.step, options_.learning_rate * schedule_->factor(worker_.step, worker_.steps));
    {
      const Timeline::Scope scope(worker_.timeline, Activity::compute, "forward");
      workload_->forward(worker_);
    }
    const std::vector<Bucket>& buckets = store_.buckets();
    std::size_t complete = 0;
    for (int layer = workload_->layers() - 1; layer >= 0; --layer) {
      {
        const Timeline::Scope scope(worker_.timeline, Activity::compute, "backward");
        workload_->backward(worker_, layer);
      }
      for (; complete < buckets.size() && buckets[complete].first_layer >= layer; ++complete)
        step_.bucket_ready(buckets[complete].index);
    }
    step_.before_update();
    step_.update();
    step_.end();
  }

  Progress record(const Progress& before) {
    const bool writes_row = worker_.rank() == 0 || options_.record_all;
    const bool is_last = worker_.step + 1 == options_.steps;
    // Where work runs later than it is ordered, only a rank that needs to know the time of its end waits for it.
    if (writes_row || is_last) worker_.device.synchronize();
    const Progress now = Progress::of(runtime_);
    const Cost sent = difference(now.sent, before.sent);
    ++report_.steps_done;
    report_.sent += sent;
    if (options_.keep_costs) report_.cost_by_step.push_back(sent);
    if (writes_row) {
      StepRow row{worker_.step, worker_.rank(), now.time, loss(), sent.bytes};
      row.compute_s = now.compute - before.compute;
      row.encode_s = now.encode - before.encode;
      row.wire_s = now.wire - before.wire;
      row.decode_s = now.decode - before.decode;
      row.exposed_s = now.time - before.time - row.compute_s;
      report_.steps.push_back(row);
    }
    keep_records(writes_row);
    return now;
  }

  void keep_records(bool in_row) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [column, value] : worker_.take_records()) {
      if (recorded_.insert_or_assign(column, value).second) require_own_column(column);
      if (!in_row) continue;
      std::vector<double>& values = report_.recorded[column];
      values.resize(report_.steps.size() - 1, nothing);
      values.push_back(value);
    }
  }

  Evaluations::Reached reached(std::int64_t steps) const { return {steps, report_.sent.bytes, recorded_}; }

  double loss() {
    if (workload_->phantom() || workload_->local_batch() == 0) return std::numeric_limits<double>::quiet_NaN();
    float value = 0;
    worker_.device.download(workload_->loss(), std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  void keep_spans() {
    for (int i = 0; i < runtime_.lanes(); ++i) {
      Timeline& timeline = runtime_.lane(i).timeline;
      timeline.settle(true);
      report_.spans.reserve(report_.spans.size() + timeline.spans().size());
      for (const Span& span : timeline.spans()) {
        report_.spans.push_back({i, span.activity, span.name, span.begin, span.end, span.bytes});
      }
    }
  }

  RankRuntime& runtime_;
  const TrainingOptions& options_;
  Worker worker_;
  bool trains_;  ///< else it serves others, and takes part in their evaluations without weights
  std::unique_ptr<Workload> workload_;
  std::vector<Parameter> parameters_;
  BucketStore store_;
  TrainingStep step_;  ///< goes before the buckets: it waits for lanes that work on them
  std::unique_ptr<const Schedule> schedule_;
  Evaluations evaluations_;
  Records recorded_;  ///< what the algorithm recorded last
  RankReport report_;
};

}  // namespace

RankReport train(RankRuntime& runtime, const TrainingOptions& options) {
  Trainer trainer(runtime, options);
  try {
    return trainer.run();
  } catch (const std::exception&) {
    trainer.abandon();
    throw;
  }
}

}  // namespace trigram
