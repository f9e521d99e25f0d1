// The workload "routed_tokens": a layer of experts, one for each place on the axis expert, whose tokens go to and fro
// along it. Weights start at 1 + expert. In step s the token of rank (d, e) in slot k goes to expert (k + d + s) mod E;
// its value is 1 + (d + 2 e + k + s) mod 3. An expert answers weight times value and learns on ½ (weight · value)².
#include <cmath>
#include <numeric>

#include "core/device/on_host.hpp"
#include "core/step/workload.hpp"
#include "core/values/error.hpp"

namespace trigram::testing {
namespace {

class RoutedTokens final : public Workload {
 public:
  void open(const Shard& shard) override {
    shard_ = shard;
    require(shard.mesh.has("expert"),
            "workload 'routed_tokens' puts an expert on each place of an axis expert, but the mesh is ",
            shard.mesh.text(), "; add it, as data=4,expert=2");
  }

  std::vector<Parameter> parameters() const override { return {whole_parameter("expert", {width}, 0)}; }
  int layers() const override { return 1; }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return shard_.mesh.ranks() * shard_.mesh.size("expert"); }
  std::int64_t local_batch() const override { return shard_.mesh.size("expert"); }
  std::string description() const override { return "tokens that are routed to experts"; }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override {
    view_ = parameters.front();
    experts_ = worker.mesh().size("expert");
    expert_ = worker.group("expert").rank();
    loss_ = worker.device.allocate(Shape::of(1, DType::f32));
    const std::vector<float> host(width, static_cast<float>(1 + expert_));
    worker.device.upload(std::as_bytes(std::span(host)), view_.weights);
  }

  /// Slot k of a rank goes to expert (k + d + s) mod E, which is one slot each.
  void forward(Worker& worker) override {
    std::vector<float> values(static_cast<std::size_t>(experts_));
    for (int slot = 0; slot < experts_; ++slot) values[at(goes_to(worker, slot))] = value(worker, slot);
    received_ = to_experts(worker, values);
    const float weight = on_host<float>(worker.device, view_.weights).front();
    std::vector<float> answers;
    for (const float token : received_) answers.push_back(weight * token);
    const std::vector<float> answered = to_experts(worker, answers);
    const float loss = std::inner_product(answered.begin(), answered.end(), answered.begin(), 0.0F) / 2;
    worker.device.upload(std::as_bytes(std::span(&loss, 1)), loss_);
  }

  void backward(Worker& worker, int) override {
    std::vector<float> weight = on_host<float>(worker.device, view_.weights);
    const float squares = std::inner_product(received_.begin(), received_.end(), received_.begin(), 0.0F);
    for (float& element : weight) element *= squares;
    worker.device.upload(std::as_bytes(std::span(weight)), view_.gradients);
  }

  Buffer loss() const override { return loss_; }
  std::optional<double> objective(Device&, const HostWeights& weights) override { return weights.front().front(); }
  double accuracy(Device&, const HostWeights&) override { return std::nan(""); }

 private:
  static constexpr std::int64_t width = 3;
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  int goes_to(const Worker& worker, int slot) const {
    return (slot + worker.rank() + static_cast<int>(worker.step)) % experts_;
  }
  float value(const Worker& worker, int slot) const {
    return static_cast<float>(1 + (worker.rank() + 2 * expert_ + slot + static_cast<int>(worker.step)) % 3);
  }

  /// Value e goes to expert e; what arrives is by the expert that sent it.
  std::vector<float> to_experts(Worker& worker, const std::vector<float>& values) const {
    const OwnedBuffer out = on_device(worker.device, values);
    const OwnedBuffer in = worker.device.allocate(Shape::of(experts_, DType::f32));
    std::vector<Buffer> send, receive;
    for (int expert = 0; expert < experts_; ++expert) {
      send.push_back(out.view().slice(expert, 1));
      receive.push_back(in.view().slice(expert, 1));
    }
    worker.group("expert").all_to_all(send, receive);
    return on_host<float>(worker.device, in);
  }

  Shard shard_;
  ParameterView view_;
  OwnedBuffer loss_;
  std::vector<float> received_;
  int experts_ = 1, expert_ = 0;
};

const Workloads::Registration registration("routed_tokens", {"tokens that go to experts and back"},
                                           [](Params&) { return std::make_unique<RoutedTokens>(); });

}  // namespace
}  // namespace trigram::testing
