#include "python/session/session.hpp"

#include <utility>

#include "core/step/bucketwise.hpp"
#include "core/training/checkpoint_state.hpp"
#include "core/training/training.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "python/session/turn.hpp"

namespace trigram {
namespace {

World read_world(Params& flags) {
  World world;
  world.all_reduce = flags.get("all-reduce", "ring", "the algorithm behind all_reduce");
  world.bucket_lanes = flags.get("lanes", 1, "communication lanes that carry buckets", {1, 1024});
  world.hierarchy_chunks = flags.get(
      "hierarchy-chunks", 1,
      "chunks of a full-precision mean by all_reduce whose phases in nodes and between them overlap", {1, 1024});
  world.keep_spans = flags.get("trace", false, "keep what each lane did and when");
  return world;
}

TrainingOptions read_options(Params& flags) {
  TrainingOptions options;
  options.algorithm = flags.get("algorithm", "all_reduce", "how ranks agree");
  options.relaxation.seed = static_cast<std::uint64_t>(flags.get("seed", std::int64_t{1}, "seed of everything random"));
  options.relaxation.overlap = flags.get("overlap", true, "communicate beside backward where the algorithm can");
  options.relaxation.gradients = parse_gradients(flags.get(
      "gradients", "f32", "f32, fp16 or bf16: what full-precision means of gradients travel and are added in"));
  options.relaxation.hierarchy = parse_hierarchy(flags.get("hierarchy", "none", "none, leader or all_nics"));
  options.buckets.bytes = static_cast<std::int64_t>(
      flags.get("bucket-size", "10MiB", Unit::bytes, "a bucket is closed at this size; 0: a bucket a parameter"));
  return options;
}

std::string text_of(const Dimensions& dimensions) {
  std::string text;
  for (const std::int64_t length : dimensions) text += (text.empty() ? "" : " x ") + std::to_string(length);
  return text.empty() ? "one element" : text;
}

/// What all ranks must have alike: flags, and the model's names and shapes as they lie in memory.
Configuration configuration_of(const Params& flags, const std::vector<Parameter>& parameters) {
  Configuration same = flags.values();
  for (const Parameter& parameter : parameters) same["shape of " + parameter.name] = text_of(parameter.dimensions);
  return same;
}

void check_roles(const TrainingOptions& options, const Algorithm& algorithm, int ranks, bool loop_updates) {
  require(
      !loop_updates || algorithm.uses_optimizer(), "algorithm '", options.algorithm,
      "' steps the weights by itself, so that an optimizer would do nothing; give none, but a learning_rate, and call "
      "model.trigram.step()");
  require(loop_updates || !algorithm.uses_optimizer(), "algorithm '", options.algorithm,
          "' leaves the step to optimizers; give those that have the model's parameters");
  require(algorithm.servers(ranks) == 0, "algorithm '", options.algorithm,
          "' makes some ranks servers, which train nothing, and each process here trains a model; take another");
}

bool sees_gradients_alone(const Algorithm& algorithm) {
  return algorithm.uses_optimizer() && dynamic_cast<const GradientMethod*>(&algorithm) != nullptr;
}

}  // namespace

Session::Session(Params flags, std::vector<Parameter> parameters, bool loop_updates, std::optional<int> device)
    : options_(read_options(flags)),
      world_(read_world(flags)),
      parameters_(std::move(parameters)),
      loop_updates_(loop_updates) {
  backend_ = Backends::make(flags.get("backend", "mpi", "where ranks run, as mpi:timeout=60s"));
  flags.reject_unknown();
  require(!parameters_.empty(), "the model has no parameter that requires a gradient; there is nothing to train");
  backend_->use_device(device);
  plan_ = plan_buckets(parameters_, options_.buckets, false);
  world_.ranks = backend_->default_ranks();
  world_.configuration = configuration_of(flags, parameters_);
  check_loop(options_, world_, *backend_, plan_);
  parts_ = TrainingStep::make_parts(options_.algorithm, "");
  parts_.optimizer.reset();
  gradients_alone_ = sees_gradients_alone(*parts_.algorithm);
  synchronous_ = parts_.algorithm->trigram().synchrony == Trigram::Synchrony::synchronous;
  reads_gradients_ = parts_.algorithm->reads_gradients();
  check_roles(options_, *parts_.algorithm, world_.ranks, loop_updates_);
  entered_ = backend_->enter(world_);
  way_out_ = entered_->way_out();
  worker_.emplace(entered_->runtime(), 0, options_.relaxation);
}

Session::~Session() {
  if (entered_ != nullptr) fail("the process ended before its session had");
}

template <class Body>
void Session::moment(const Body& body) {
  ensure(entered_ != nullptr, "the session has ended; nothing can follow");
  const double begin = worker_->now();
  if (outside_since_) worker_->timeline.add({Activity::compute, "loop", *outside_since_, begin});
  try {
    body();
    if (entered_ != nullptr) entered_->require_whole();
  } catch (const std::exception&) {
    end_with(std::current_exception());
    throw;
  }
  if (entered_ == nullptr) return;
  const double end = worker_->now();
  exposed_ += end - begin;
  if (outside_since_) outside_since_ = end;
}

template <class Body>
void Session::hook_in_turn(const Body& body) {
  moment([&] { in_turn(entered_->runtime(), body); });
}

void Session::end_with(std::exception_ptr error) noexcept {
  if (entered_ == nullptr) return;
  entered_->fail(std::move(error));  // before connections break, so that others read why
  if (step_ != nullptr) step_->abandon();
  entered_->runtime().stop_lanes();
  step_.reset();
  kept_.reset();
  worker_.reset();
  entered_.reset();
}

void Session::fail(const std::string& reason) noexcept { end_with(std::make_exception_ptr(Error(reason))); }

TrainingStep& Session::step() {
  ensure(step_ != nullptr, "the session does not know the memory of its model yet: 'adopt' must be called first");
  return *step_;
}

void Session::follow(void* stream) {
  ensure(entered_ != nullptr, "the session has ended; nothing can follow");
  entered_->follow(stream);
}

std::vector<void*> Session::streams() const {
  std::vector<void*> all;
  for (int lane = 0; lane < entered_->runtime().lanes(); ++lane) {
    if (void* const stream = entered_->stream_of(lane); stream != nullptr) all.push_back(stream);
  }
  return all;
}

void Session::adopt(std::vector<ParameterView> memory) {
  hook_in_turn([&] {
    ensure(step_ == nullptr, "'adopt' was called twice; a session has one model, whose memory stays where it is");
    store_.emplace(parameters_, plan_, std::move(memory));
    if (!handed_.empty()) load_mean_weights(handed_, worker_->device, store_->buckets());
  });
  moment([&] {
    step_ = std::make_unique<TrainingStep>(*worker_, store_->buckets(), std::move(parts_));
    step_->setup(/*steps=*/0);  // nobody knows how many there will be
    if (!handed_.empty()) take_up();
  });
}

void Session::take_up() {
  read_checkpoint(handed_, worker_->device, [this](State& all) { list_border(all); });
  handed_ = {};
  worker_->runtime().barrier();  // nobody trains, and asks others, before all have read
}

void Session::share(const Buffer& bytes, int root) {
  hook_in_turn([&] { worker_->comm.broadcast(bytes, root); });
}

void Session::sum(const Buffer& numbers) {
  hook_in_turn([&] { worker_->comm.all_reduce(numbers, ReduceOp::sum); });
}

void Session::come_to_rest() {
  moment([&] { step().quiesce(); });
}

void Session::global_weights() {
  moment([&] {
    if (!gradients_alone_) step().global_weights();  // replicas of others are equal already
  });
}

void Session::meet() {
  moment([&] { worker_->runtime().barrier(); });
}

void Session::settle() {
  hook_in_turn([&] { worker_->device.synchronize(); });
}

void Session::require_whole() {
  moment([] {});
}

void Session::give_up(const std::string& reason) const {
  if (way_out_) way_out_(reason);
}

void Session::list_state(State& state) {
  state.value("steps", steps_);
  step().list_state(state);
}

void Session::list_border(State& state) {
  for (const Bucket& bucket : store_->buckets()) state.buffer(weights_item_of(bucket), bucket.weights, Fate::balanced);
  list_state(state);
}

std::vector<std::byte> Session::border(std::vector<std::byte> memory) {
  Packer packer(std::move(memory));
  moment([&] {
    if (!synchronous_) step().quiesce();
    StateWriter writer(worker_->device, packer);
    list_border(writer);
  });
  return std::move(packer).bytes();
}

std::vector<std::byte> Session::state() {
  Packer packer;
  moment([&] {
    step().quiesce();
    packer.put_text(options_.algorithm);
    StateWriter writer(worker_->device, packer);
    list_state(writer);
    worker_->runtime().barrier();
  });
  return std::move(packer).bytes();
}

void Session::go_on_from(std::span<const std::byte> state) {
  Unpacker unpacker(state);
  const std::string algorithm = unpacker.take_text();
  require(algorithm == options_.algorithm, "the state is of algorithm '", algorithm, "', and this session's is '",
          options_.algorithm, "'; go on with the same one");
  moment([&] {
    StateReader reader(worker_->device, unpacker);
    list_state(reader);
    worker_->runtime().barrier();
  });
}

void Session::begin(double learning_rate) {
  hook_in_turn([&] { before_ = sums(); });
  exposed_ = 0;
  if (synchronous_) entered_->begin_step(steps_ + 1);
  moment([&] { step().begin(steps_, learning_rate); });
  outside_since_ = worker_->now();
}

void Session::tensor_ready(int parameter) {
  moment([&] { step().tensor_ready(parameter); });
}

void Session::gradients_end() {
  moment([&] {
    step().rest_ready();
    step().before_update();
  });
}

void Session::end() {
  moment([&] {
    loop_updates_ ? step().updated() : step().update();
    step().end();
    ++steps_;
  });
  outside_since_.reset();
  add_row();
}

void Session::finish() {
  moment([&] {
    if (synchronous_) entered_->tell_end(steps_);
    step().finish();
    RankReport report;
    report.spans = own_spans();
    keep_spans(entered_->leave(pack(report)));
    step_.reset();
    kept_.reset();
    worker_.reset();
    entered_.reset();
  });
}

void Session::require_gradients_only(const std::string& algorithm, const std::string& else_text) {
  require(sees_gradients_alone(*Algorithms::make(algorithm)), "algorithm '", algorithm,
          "' works on more than gradients, ", else_text);
}

void Session::keep() {
  moment([&] {
    if (!kept_) kept_.emplace(worker_->device);
    kept_->begin(KeptState::Way::keep);
    step().list_state(*kept_);
  });
}

void Session::go_back() {
  moment([&] {
    ensure(kept_.has_value(), "nothing was kept to go back to: 'keep' must be called first");
    kept_->begin(KeptState::Way::give_back);
    step().list_state(*kept_);
  });
}

void Session::rescale(double factor) {
  moment([&] {
    RescaledState all(worker_->device, static_cast<float>(factor));
    step().list_state(all);
  });
}

bool Session::state_is_finite() {
  bool finite = true;
  if (!gradients_alone_) return finite;
  moment([&] {
    FiniteState all(worker_->device);
    step().list_state(all);
    finite = all.finite();
  });
  return finite;
}

std::vector<LaneSpan> Session::own_spans() {
  std::vector<LaneSpan> all;
  if (!world_.keep_spans) return all;
  RankRuntime& runtime = entered_->runtime();
  for (int i = 0; i < runtime.lanes(); ++i) {
    Timeline& timeline = runtime.lane(i).timeline;
    timeline.settle(true);
    for (const Span& span : timeline.spans())
      all.push_back({i, span.activity, span.name, span.begin, span.end, span.bytes, span.call});
  }
  return all;
}

void Session::keep_spans(const Outcome& outcome) {
  for (const std::vector<std::byte>& bytes : outcome.results) spans_.push_back(unpack(bytes).spans);
}

Session::Sums Session::sums() {
  Sums all;
  all.time = worker_->now();
  for (int i = 0; i < entered_->runtime().lanes(); ++i) {
    Lane& lane = entered_->runtime().lane(i);
    lane.timeline.settle();
    all.encode += lane.timeline.busy(Activity::encode);
    all.wire += lane.timeline.busy(Activity::wire);
    all.decode += lane.timeline.busy(Activity::decode);
    all.bytes += lane.meter.total().bytes;
    all.to_other_nodes += lane.meter.to_other_nodes();
  }
  return all;
}

void Session::add_row() {
  const Sums now = sums();
  StepRow row;
  row.step = steps_ - 1;
  row.rank = worker_->runtime().rank();
  row.time_s = now.time;
  row.bytes_sent = now.bytes - before_.bytes;
  row.bytes_between_nodes = now.to_other_nodes - before_.to_other_nodes;
  row.compute_s = now.time - before_.time - exposed_;
  row.encode_s = now.encode - before_.encode;
  row.wire_s = now.wire - before_.wire;
  row.decode_s = now.decode - before_.decode;
  row.exposed_s = exposed_;
  rows_.push_back(row);
  recorded_.push_back(worker_->take_records());
}

}  // namespace trigram
