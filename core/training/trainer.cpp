#include "core/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/step/accumulation.hpp"
#include "core/step/schedule.hpp"
#include "core/step/training_step.hpp"
#include "core/step/workload.hpp"
#include "core/training/checkpoint_state.hpp"
#include "core/training/evaluation.hpp"
#include "core/training/handover.hpp"
#include "core/training/rank_progress.hpp"
#include "core/values/located.hpp"
#include "core/values/packing.hpp"

namespace trigram {
namespace {

Cost difference(Cost after, Cost before) { return {after.rounds - before.rounds, after.bytes - before.bytes}; }

TrainingStep::Parts parts_of(const TrainingOptions& options, const Workload& workload) {
  TrainingStep::Parts parts = TrainingStep::make_parts(options.algorithm, options.optimizer);
  parts.update_is_timed = workload.times_update();
  return parts;
}

std::vector<std::byte> packed(const Records& records) {
  Packer packer;
  put(packer, records);
  return std::move(packer).bytes();
}

/// Along the data axis ranks hold replicas; elsewhere a workload may give each its own part.
bool holds_first_model(const Mesh& mesh) { return mesh.size(Mesh::data) == mesh.ranks(); }

/// What is behind a bucket's tensors: nobody writes it anew, so methods that work on whole buckets find it again.
Buffer padding_of(const Bucket& bucket) {
  if (bucket.gradients.is_phantom() || bucket.tensors.empty()) return {};
  const Tensor& last = bucket.tensors.back();
  const std::int64_t begin = last.offset + last.count;
  return bucket.gradients.slice(begin, bucket.gradients.count() - begin, 0);
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
  Trainer(RankRuntime& runtime, const TrainingOptions& options, std::shared_ptr<const PlannedModel> first)
      : runtime_(runtime),
        options_(options),
        worker_(runtime, 0, options.relaxation),
        trains_(worker_.rank() < training_ranks(options, worker_.world_size())),
        workload_(open_workload(options, worker_.mesh(), runtime.rank())),
        model_(holds_first_model(worker_.mesh()) ? std::move(first)
                                                 : std::make_shared<const PlannedModel>(*workload_, options)),
        store_(worker_.device, model_->parameters, std::shared_ptr<const BucketPlan>(model_, &model_->plan)),
        step_(worker_, store_.buckets(), parts_of(options, *workload_)),
        accumulation_(worker_.device, store_.buckets(), options.accumulate),
        schedule_(Schedules::make(options.schedule)),
        evaluations_(worker_, *workload_, store_.parameters(), options, [this](const EvalRow& row) {
          report_.evals.push_back(row);
          if (options_.on_evaluation) options_.on_evaluation(row);
        }) {}

  RankReport run() {
    report_.rank = runtime_.rank();
    if (trains_) report_.local_batch = workload_->local_batch();
    workload_->setup(worker_, store_.parameters());
    const auto held = load_checkpoint(options_.checkpoint, runtime_.rank(), worker_.device, store_.buckets());
    step_.setup(options_.steps);
    runtime_.leave_behind([this] { return pack(filled(report_)); });
    RankProgress before = options_.checkpoint.load ? go_on(held) : begin();
    const std::shared_ptr<void> beside =
        options_.beside && runtime_.rank() == 0 ? options_.beside(runtime_) : std::shared_ptr<void>();
    for (worker_.step = steps_; worker_.step < until(); ++worker_.step) {
      if (trains_) {
        step();
        before = record(before);
      }
      if (options_.on_step && runtime_.rank() == 0) options_.on_step(worker_.step + 1);
      steps_ = worker_.step + 1;
      evaluations_.after_step(reached(steps_));
      if (is_checkpoint()) before = checkpoint(before);
    }
    report_.training_seconds = before.time - began_;
    report_ = filled(std::move(report_));
    step_.finish();
    const RankProgress ended = RankProgress::of(worker_);
    (trains_ ? report_.setup_and_finish : report_.sent) = outside_ + difference(ended.sent, before.sent);
    count_of_server(before, ended);
    evaluations_.end(reached(report_.steps_done));
    keep_weights();
    if (options_.keep_spans) keep_spans();
    return std::move(report_);
  }

  /// Bodies that still run use what the trainer owns.
  void abandon() { step_.abandon(); }

 private:
  RankProgress begin() {
    evaluations_.begin();
    const RankProgress start = RankProgress::of(worker_);
    began_ = start.time;
    outside_ = start.sent;
    count_of_server({}, start);
    if (options_.checkpoint.keep) {
      report_.state = state_now();  // until there is a checkpoint, what all began with
      runtime_.barrier();           // nobody trains, and asks others, before all have written that down
    }
    return start;
  }

  /// One that serves has no steps: what it does at any time is its work.
  void count_of_server(const RankProgress& before, const RankProgress& now) {
    if (trains_) return;
    report_.sent_to_other_nodes += now.to_other_nodes - before.to_other_nodes;
    report_.busy_s += now.busy;
  }

  std::int64_t until() const { return options_.until > 0 ? options_.until : options_.steps; }

  bool is_checkpoint() const {
    const CheckpointOptions& asked = options_.checkpoint;
    if (steps_ == options_.until) return true;
    if (asked.every == 0) return false;
    return steps_ < options_.steps ? steps_ % asked.every == 0 : asked.at_end;
  }

  /// Ranks meet with nothing under way, so that what they write down is of one moment.
  RankProgress checkpoint(const RankProgress& before) {
    step_.quiesce();
    evaluations_.quiesce(reached(steps_));
    const RankProgress now = RankProgress::of(worker_);
    outside_ += difference(now.sent, before.sent);
    count_of_server(before, now);
    time_ = worker_.now();
    hand_over(state_now());
    return leave_checkpoint();
  }

  std::vector<std::byte> state_now() {
    Packer packer;
    StateWriter writer(worker_.device, packer);
    list_state(writer);
    return std::move(packer).bytes();
  }

  void hand_over(std::vector<std::byte> state) {
    const CheckpointOptions& to = options_.checkpoint;
    if (to.save) {
      std::vector<std::byte> written = to.save(steps_, runtime_.rank(), state);
      runtime_.barrier();                // however long the others write; collecting is watched
      const std::int64_t key = -steps_;  // evaluations have those from 0 on
      runtime_.collect(key, std::move(written), [&](const RankRuntime::Parts& saved) {
        if (to.complete) to.complete(steps_, saved);
      });
    }
    if (to.keep) report_.state = std::move(state);
  }

  /// From where the checkpoint was taken, as if it had been just now.
  RankProgress go_on(const std::vector<std::byte>& held) {
    located([&] { return "what rank " + std::to_string(runtime_.rank()) + " goes on from: "; },
            [&] { read_checkpoint(held, worker_.device, [this](State& all) { list_state(all); }); });
    keep_what_is_of_here();
    tell_of_rows();
    require_same_steps();
    worker_.resume_at(time_ + options_.checkpoint.take_up.after_s);
    fetch_state(options_.checkpoint.take_up, worker_, [this](State& all) { list_state(all); });
    evaluations_.go_on(reached(steps_));
    return leave_checkpoint();
  }

  void keep_weights() {
    if (!trains_ || workload_->phantom()) return;
    auto weights = download_weights(worker_.device, store_.parameters());
    report_.weights_digest = digest_of(weights);
    if (options_.keep_weights) report_.weights = std::move(weights);
  }

  /// The checkpoint may have been of another number of ranks.
  void keep_what_is_of_here() {
    report_.rank = runtime_.rank();
    report_.local_batch = trains_ ? workload_->local_batch() : 0;
    if (!trains_) report_.steps_done = 0;
  }

  /// Those of before the checkpoint.
  void tell_of_rows() const {
    for (std::size_t i = 0; options_.on_row && i < report_.steps.size(); ++i) {
      Records recorded;
      for (const auto& [column, values] : report_.recorded) {
        if (i < values.size() && !std::isnan(values[i])) recorded[column] = values[i];
      }
      options_.on_row(report_.steps[i], recorded);
    }
    for (const EvalRow& row : report_.evals) {
      if (options_.on_evaluation) options_.on_evaluation(row);
    }
  }

  /// Ranks on several machines may have seen different files.
  void require_same_steps() {
    const std::int64_t least = runtime_.agree(steps_, ReduceOp::min), most = runtime_.agree(steps_, ReduceOp::max);
    require(least == most, "rank ", runtime_.rank(), " has the checkpoint after step ", steps_,
            ", and ranks have those after steps ", least, " to ", most,
            ", since they do not see the same files; name one manifest that all see");
  }

  RankProgress leave_checkpoint() {
    runtime_.barrier();
    for (int i = 0; i < runtime_.lanes(); ++i) {
      runtime_.lane(i).timeline.settle(true);
      runtime_.lane(i).timeline.count_anew();
    }
    return RankProgress::of(worker_);
  }

  /// All that a rank goes on from. What is of this rank alone is called so, for ranks of another number.
  void list_state(State& state) {
    const std::string own(of_the_rank_alone);
    state.value("steps", steps_).value(own + "time", time_, Fate::own).value(own + "begin", began_, Fate::own);
    state.value(own + "sent outside", outside_, Fate::own);
    for (const Bucket& bucket : store_.buckets()) {
      state.buffer(weights_item_of(bucket), bucket.weights, Fate::balanced);
      state.buffer("padding " + std::to_string(bucket.index), padding_of(bucket), Fate::own);
    }
    step_.list_state(state);
    state.of("workload", *workload_).of(own + "evaluations", evaluations_);
    report_.state = {};
    state.packed(
        own + "report", [this] { return pack(report_); }, [this](const auto& bytes) { report_ = unpack(bytes); },
        Fate::own);
    state.packed(
        own + "recorded", [this] { return packed(recorded_); },
        [this](const auto& bytes) {
          Unpacker unpacker(bytes);
          recorded_ = take_records(unpacker);
        },
        Fate::own);
  }

  void step() {
    step_.begin(worker_.step, options_.learning_rate * schedule_->factor(worker_.step, worker_.steps));
    const int last_part = options_.accumulate - 1;
    for (int part = 0; part < last_part; ++part) {
      forward(part);
      backward(part, workload_->layers(), 0);
      accumulation_.keep(part, workload_->loss());
    }
    forward(last_part);
    int left = workload_->layers();
    for (const Bucket& bucket : store_.buckets()) {
      left = backward(last_part, left, bucket.first_layer);
      accumulation_.mean(bucket);
      step_.bucket_ready(bucket.index);
    }
    backward(last_part, left, 0);
    step_.before_update();
    step_.update();
    step_.end();
  }

  /// Of one micro-batch of this step.
  void forward(int part) {
    pass("forward", part, [&] { workload_->forward(worker_); });
  }

  /// Of the layers below `left` down to `lowest`, if any; those that are left then.
  int backward(int part, int left, int lowest) {
    if (left <= lowest) return left;
    pass("backward", part, [&] { workload_->backward_through(worker_, left - 1, lowest); });
    return lowest;
  }

  /// The workload draws samples and noise by the step that it sees, so that micro-batches are those of as many steps.
  template <class Work>
  void pass(const char* name, int part, const Work& work) {
    const Timeline::Scope scope(worker_.timeline, Activity::compute, name);
    const std::int64_t step = worker_.step;
    worker_.step = step * options_.accumulate + part;
    work();
    worker_.step = step;
  }

  RankProgress record(const RankProgress& before) {
    const bool writes_row = runtime_.rank() == 0 || options_.record_all;
    const bool is_last = worker_.step + 1 == options_.steps;
    // Where work runs later than it is ordered, only a rank that needs to know the time of its end waits for it.
    if (writes_row || is_last) worker_.device.synchronize();
    const RankProgress now = RankProgress::of(worker_);
    const Cost sent = difference(now.sent, before.sent);
    ++report_.steps_done;
    report_.sent += sent;
    const std::int64_t to_other_nodes = now.to_other_nodes - before.to_other_nodes;
    report_.sent_to_other_nodes += to_other_nodes;
    report_.busy_s += now.busy;
    if (options_.keep_costs) report_.cost_by_step.push_back(sent);
    if (writes_row) {
      StepRow row{worker_.step, runtime_.rank(), now.time, loss(), sent.bytes, to_other_nodes};
      row.compute_s = now.compute - before.compute;
      row.encode_s = now.encode - before.encode;
      row.wire_s = now.wire - before.wire;
      row.decode_s = now.decode - before.decode;
      row.exposed_s = std::max(0.0, now.time - before.time - row.compute_s);  // no wait is less than none by rounding
      row.busy_s = now.busy;
      report_.steps.push_back(row);
    }
    const Records records = worker_.take_records();
    keep_records(records, writes_row);
    if (writes_row && options_.on_row) options_.on_row(report_.steps.back(), records);
    return now;
  }

  void keep_records(const Records& records, bool in_row) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [column, value] : records) {
      if (recorded_.insert_or_assign(column, value).second) require_own_column(column);
      if (!in_row) continue;
      std::vector<double>& values = report_.recorded[column];
      values.resize(report_.steps.size() - 1, nothing);
      values.push_back(value);
    }
  }

  Evaluations::Reached reached(std::int64_t steps) const {
    return {steps, report_.sent.bytes, report_.sent_to_other_nodes, report_.busy_s, recorded_};
  }

  double loss() {
    if (workload_->phantom() || workload_->local_batch() == 0) return std::numeric_limits<double>::quiet_NaN();
    float value = 0;
    worker_.device.download(accumulation_.mean_loss(workload_->loss()), std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  void keep_spans() {
    for (int i = 0; i < runtime_.lanes(); ++i) {
      Timeline& timeline = runtime_.lane(i).timeline;
      timeline.settle(true);
      report_.spans.reserve(report_.spans.size() + timeline.spans().size());
      for (const Span& span : timeline.spans()) {
        report_.spans.push_back({i, span.activity, span.name, span.begin, span.end, span.bytes, span.call});
      }
    }
  }

  RankRuntime& runtime_;
  const TrainingOptions& options_;
  Worker worker_;
  bool trains_;  ///< else it serves others, and takes part in their evaluations without weights
  std::unique_ptr<Workload> workload_;
  std::shared_ptr<const PlannedModel> model_;
  BucketStore store_;
  TrainingStep step_;  ///< goes before the buckets: it waits for lanes that work on them
  Accumulation accumulation_;
  std::unique_ptr<const Schedule> schedule_;
  Evaluations evaluations_;
  Records recorded_;        ///< what the algorithm recorded last
  std::int64_t steps_ = 0;  ///< that are done
  double time_ = 0;         ///< of the last checkpoint
  double began_ = 0;        ///< when the first step did
  Cost outside_;            ///< sent outside of steps
  RankReport report_;
};

}  // namespace

PlannedModel::PlannedModel(const Workload& workload, const TrainingOptions& options)
    : parameters(workload.parameters()),
      plan(plan_buckets(parameters, options.buckets, workload.phantom(),
                        options.relaxation.overlap ? workload.backward_seconds() : std::vector<double>())) {}

RankReport train(RankRuntime& runtime, const TrainingOptions& options, std::shared_ptr<const PlannedModel> first) {
  Trainer trainer(runtime, options, std::move(first));
  try {
    return trainer.run();
  } catch (const std::exception&) {
    trainer.abandon();
    throw;
  }
}

}  // namespace trigram
