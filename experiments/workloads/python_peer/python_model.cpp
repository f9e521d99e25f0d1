// A model of the Python that started this program: its gradients by automatic differentiation there, ranks here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/step/workload.hpp"
#include "core/values/error.hpp"
#include "experiments/workloads/python_peer/peer.hpp"
#include "experiments/workloads/python_peer/peer_call.hpp"

namespace trigram {
namespace {

constexpr double no_score = std::numeric_limits<double>::quiet_NaN();

/// What a rank has done so far, so that Python can tell of the steps of a run that does not end well.
nlohmann::json so_far(Worker& worker) {
  RankRuntime& runtime = worker.runtime();
  nlohmann::json sums = {{"time_s", worker.now()}};
  double encode = 0, wire = 0, decode = 0;
  std::int64_t bytes = 0;
  for (int i = 0; i < runtime.lanes(); ++i) {
    const Lane& lane = runtime.lane(i);
    encode += lane.timeline.busy(Activity::encode);
    wire += lane.timeline.busy(Activity::wire);
    decode += lane.timeline.busy(Activity::decode);
    bytes += lane.meter.total().bytes;
  }
  sums.update({{"bytes_sent", bytes},
               {"compute_s", worker.timeline.busy(Activity::compute)},
               {"encode_s", encode},
               {"wire_s", wire},
               {"decode_s", decode}});
  return sums;
}

double number_of(const nlohmann::json& answer, const char* key) {
  return answer.at(key).is_number() ? answer.at(key).get<double>() : no_score;
}

/// What a rank sends for its model in a step, and the seconds that it spends in that, waiting for others among them: as
/// columns of steps.csv.
class OwnTraffic {
 public:
  OwnTraffic() = default;

  template <class Body>
  void add(Worker& worker, const Body& body) {
    const std::int64_t step = worker.step / Peer::of_this_process().model().accumulate;
    if (step_ != step) *this = OwnTraffic(step);
    const Meter& meter = worker.runtime().lane(worker.lane).meter;
    bytes_ -= meter.total().bytes;
    between_nodes_ -= meter.to_other_nodes();
    seconds_ -= worker.now();
    body();
    bytes_ += meter.total().bytes;
    between_nodes_ += meter.to_other_nodes();
    seconds_ += worker.now();
    worker.record("model_bytes", static_cast<double>(bytes_));
    worker.record("model_bytes_between_nodes", static_cast<double>(between_nodes_));
    worker.record("model_s", seconds_);
  }

 private:
  explicit OwnTraffic(std::int64_t step) : step_(step) {}

  std::int64_t step_ = -1, bytes_ = 0, between_nodes_ = 0;
  double seconds_ = 0;
};

/// Gradients of all layers are computed in forward, at its weights, and take no time of their own: a profile's clock
/// does (on_profile). Collectives that the model itself calls meanwhile take the network's.
class PythonModel final : public Workload {
 public:
  explicit PythonModel(Params&) {}

  void open(const Shard& shard) override {
    const Peer::Model& model = Peer::of_this_process().model();
    require(shard.label_skew == 0, "a model of Python is given its data there, whose labels cannot be skewed here");
    require(!shard.validation, "a model of Python is scored there; hold samples out in its score function");
    require(shard.mesh.ranks() == shard.mesh.size(Mesh::data),
            "a model of Python is trained along the data axis alone; leave --mesh out");
    const std::int64_t global = model.local_batch * shard.world;
    require(shard.global_batch == 0 || shard.global_batch == global, "a model of Python is given ", model.local_batch,
            " samples a rank, which are ", global, " on ", shard.world, " ranks, not ", shard.global_batch,
            "; leave --global-batch out");
    shard_ = shard;
  }

  std::vector<Parameter> parameters() const override { return Peer::of_this_process().model().parameters; }
  int layers() const override { return static_cast<int>(Peer::of_this_process().model().parameters.size()); }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return local_batch() * shard_.world; }
  std::int64_t local_batch() const override { return Peer::of_this_process().model().local_batch; }
  double memory() const override { return static_cast<double>(Peer::of_this_process().count() * sizeof(float)); }
  std::string description() const override { return Peer::of_this_process().model().description; }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override {
    Peer& peer = Peer::of_this_process();
    views_.assign(parameters.begin(), parameters.end());
    loss_ = worker.device.allocate(Shape::of(1, DType::f32));
    peer.ask({{"ask", "begin"}});
    for (std::size_t i = 0; i < views_.size(); ++i)
      worker.device.upload(std::as_bytes(peer.weights(i)), views_[i].weights);
  }

  void forward(Worker& worker) override {
    Peer& peer = Peer::of_this_process();
    for (std::size_t i = 0; i < views_.size(); ++i)
      worker.device.download(views_[i].weights, std::as_writable_bytes(peer.weights(i)));
    const nlohmann::json answer = computed(worker);
    gradients_.assign(peer.gradients().begin(), peer.gradients().end());
    const auto loss = answer.at("loss").get<float>();
    worker.device.upload(std::as_bytes(std::span(&loss, 1)), loss_);
  }

  void backward(Worker& worker, int layer) override {
    const auto index = static_cast<std::size_t>(layer);
    const std::span<const float> all(gradients_);
    const auto count = static_cast<std::size_t>(views_[index].gradients.count());
    const auto own = all.subspan(Peer::of_this_process().begin(index), count);
    worker.device.upload(std::as_bytes(own), views_[index].gradients);
  }

  Buffer loss() const override { return loss_; }

  void list_state(State&) override {
    require(!Peer::of_this_process().model().keeps_state,
            "this model of Python keeps buffers or an optimizer there, which nobody else can go on from; take a model "
            "without "
            "buffers and an optimizer of Trigram");
  }

  std::optional<double> objective(Device&, const HostWeights& weights) override {
    scored_ = weights;
    score_ = ask_for_score(weights, /*of_the_mean=*/true);
    return score_.loss;
  }

  double accuracy(Device&, const HostWeights& weights) override {
    if (std::isnan(score_.accuracy) || weights == scored_) return score_.accuracy;
    return ask_for_score(weights, /*of_the_mean=*/false).accuracy;
  }

 private:
  struct Score {
    double loss = no_score, accuracy = no_score;
  };

  /// Python computes, and may ask in the midst of it for collectives of the model's, beside which other ranks compute.
  nlohmann::json computed(Worker& worker) {
    Peer& peer = Peer::of_this_process();
    std::string bytes;
    nlohmann::json answer = peer.ask(
        {{"ask", "gradients"}, {"rank", shard_.rank}, {"step", worker.step}, {"so_far", so_far(worker)}}, bytes);
    while (answer.at("ask") == "call") {
      traffic_.add(worker, [&] { perform_for_peer(worker.comm, answer, bytes); });
      answer = peer.ask({{"ask", "go_on_with_gradients"}, {"rank", shard_.rank}}, bytes);
    }
    return answer;
  }

  Score ask_for_score(const HostWeights& weights, bool of_the_mean) const {
    Peer& peer = Peer::of_this_process();
    for (std::size_t i = 0; i < weights.size(); ++i) std::ranges::copy(weights[i], peer.weights(i).begin());
    const nlohmann::json answer = peer.ask({{"ask", "score"}, {"of_the_mean", of_the_mean}});
    return {number_of(answer, "loss"), number_of(answer, "accuracy")};
  }

  Shard shard_;
  std::vector<ParameterView> views_;
  std::vector<float> gradients_;
  OwnedBuffer loss_;
  OwnTraffic traffic_;
  HostWeights scored_;  ///< the mean model of the last evaluation
  Score score_;         ///< of that
};

const Workloads::Registration registered("python_model", {"a PyTorch model, as trigram.simulate of Python gives it"},
                                         [](Params& params) { return std::make_unique<PythonModel>(params); });

}  // namespace
}  // namespace trigram
