// Moniqua in its asynchronous form: pairs mix as in AD-PSGD, and send a byte an element, the weights modulo B ≈ 2 θ on
// a grid of step s = θ/126. Each of a pair recovers the difference of the two rounded models, x̂_j − x̂_i, as the
// representative nearest to 0, and moves by half of it: x_i ← x_i + (x̂_j − x̂_i)/2. One moves by as much as the other
// moves back, bit for bit, so that mixing never moves the mean over ranks, and nobody keeps replicas.
//   rounds 1 and bytes S/4 per active rank and step, and the same for each reply of a passive one.
#include "core/device/codec.hpp"
#include "core/primitives/pairs.hpp"

namespace trigram {
namespace {

class Moniqua final : public PairAveraging {
 public:
  explicit Moniqua(Params& params)
      : PairAveraging(params),
        codec_("modulo:theta=" +
               number_text(params.get("theta", 1.0, "largest difference of a weight between the two ranks of a pair",
                                      {.least = 1e-20, .most = 1e20}))),
        model_(make_codec_model(codec_)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::low, Trigram::Centrality::decentralized};
  }
  std::vector<std::string> trials() const override { return {"", "theta=64,topology=ring"}; }
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = PairAveraging::invariants(query);
    held.mean_error = 0;
    return held;
  }

 private:
  /// What a rank has of each bucket beside its weights.
  struct Messages {
    OwnedBuffer own;         ///< frame of its weights
    OwnedBuffer other;       ///< frame of the peer's
    OwnedBuffer difference;  ///< x̂ of the peer − its own
  };

  std::int64_t message_bytes(const Shape& bucket) const override {
    return model_->encoded_bytes(bucket.modelled_count);
  }
  void allocate(Worker& worker, const Bucket& bucket) override {
    if (codec_on_device_ == nullptr) codec_on_device_ = worker.device.make_codec(codec_);
    const Shape weights = bucket.weights.shape(), frame = model_->encoded_shape(weights);
    messages_.push_back(
        {worker.device.allocate(frame), worker.device.allocate(frame), worker.device.allocate(weights)});
  }
  Ask question(Worker& worker, const Bucket& bucket, int peer) override {
    const Messages& all = messages(bucket.index);
    codec_on_device_->encode(worker.device, bucket.weights, all.own, {});
    return {peer, bucket.index, all.own, all.other};
  }
  void answered(Worker& lane, int bucket) override {
    const Messages& all = messages(bucket);
    recover(lane.device, all, all.other);
  }
  void settle(Worker& worker, const Bucket& bucket) override {
    worker.device.axpby(0.5F, messages(bucket.index).difference, 1.0F, bucket.weights);
  }
  Buffer answer(Worker& lane, const Request& request, Buffer own) override {
    const Messages& all = messages(request.subject);
    codec_on_device_->encode(lane.device, own, all.own, {});
    recover(lane.device, all, request.content);
    lane.device.axpby(0.5F, all.difference, 1.0F, own);
    return all.own;
  }

  /// The difference of two residues is that of the values modulo B: its own residue is the one nearest to 0.
  void recover(Device& device, const Messages& all, Buffer other) const {
    device.fused(Activity::decode, "recover", [&] {
      codec_on_device_->decode(device, other, all.difference, {});
      codec_on_device_->decode_add(device, all.own, -1.0F, all.difference, {});
      codec_on_device_->encode(device, all.difference, all.other, {});
      codec_on_device_->decode(device, all.other, all.difference, {});
    });
  }
  const Messages& messages(int bucket) const { return messages_[static_cast<std::size_t>(bucket)]; }

  std::string codec_;
  std::unique_ptr<const Codec> model_;
  std::unique_ptr<const Codec> codec_on_device_;
  std::vector<Messages> messages_;
};

const Algorithms::Registration registration(
    "moniqua",
    {"average with a random rank that trains meanwhile, modulo what they differ by",
     "Lu & De Sa, Moniqua: modulo quantized communication in decentralized SGD, ICML 2020, arXiv:2002.11787",
     "Gossip in a byte an element without replicas of neighbours, among ranks of unequal speed.",
     "Where nobody knows how far two ranks may be apart: what is further wraps around."},
    [](Params& params) { return std::make_unique<Moniqua>(params); });

}  // namespace
}  // namespace trigram
