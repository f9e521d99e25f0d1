// Asynchronous decentralized SGD (AD-PSGD): ranks mix their models in pairs while they train; nobody waits for a slow
// one. An active rank sends its weights before forward; a passive one averages them with a copy of its own and replies
// with the average. Both of a pair then hold (x_i + x_j)/2: mixing never moves the mean over ranks.
//   rounds 1 and bytes S per active rank and step, and the same for each reply of a passive one.
#include "core/primitives/pairs.hpp"

namespace trigram {
namespace {

class AdPsgd final : public PairAveraging {
 public:
  using PairAveraging::PairAveraging;

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  std::vector<std::string> trials() const override { return {"", "topology=ring"}; }

 private:
  std::int64_t message_bytes(const Shape& bucket) const override {
    return bucket.modelled_count * size_of(bucket.dtype);
  }
  void allocate(Worker& worker, const Bucket& bucket) override {
    mixed_.push_back(worker.device.allocate(bucket.weights.shape()));
  }
  Ask question(Worker& worker, const Bucket& bucket, int peer) override {
    worker.device.copy(bucket.weights, mixed(bucket.index));
    return {peer, bucket.index, mixed(bucket.index), mixed(bucket.index)};
  }
  void settle(Worker& worker, const Bucket& bucket) override {
    worker.device.copy(mixed(bucket.index), bucket.weights);
  }
  Buffer answer(Worker& lane, const Request& request, Buffer own) override {
    lane.device.weighted_sum(std::array{own, request.content.view()}, std::array{0.5F, 0.5F}, own);
    return own;
  }
  Buffer mixed(int bucket) const { return mixed_[static_cast<std::size_t>(bucket)]; }

  std::vector<OwnedBuffer> mixed_;  ///< what an active rank sends and receives
};

const Algorithms::Registration registration(
    "ad_psgd",
    {"average with a random rank that trains meanwhile",
     "Lian et al., Asynchronous decentralized parallel SGD, ICML 2018, arXiv:1710.06952",
     "Ranks of unequal speed on networks without a centre: nobody waits for a slow one.",
     "Where two runs must give the same bits, or steps are so long that half of the ranks' gradients are old."},
    [](Params& params) { return std::make_unique<AdPsgd>(params); });

}  // namespace
}  // namespace trigram
