// C_FP_S and C_LP_S of Bagua (Gan et al., VLDB 2021, arXiv:2107.01499), with hierarchy.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/compression/frames.hpp"
#include "core/device/codec.hpp"
#include "core/lane/worker.hpp"
#include "core/step/algorithm.hpp"

namespace trigram {

/// C_FP_S: x ← mean over ranks of x, in full precision, by the run's all-reduce; in a hierarchy by the run's chunks.
void centralized_full_precision(Worker& worker, Buffer x);
/// Rounds and bytes of one such call.
Cost centralized_full_precision_cost(const CostQuery& query, const Shape& bucket);

/// How C_LP_S exchanges frames.
enum class FrameExchange : std::uint8_t {
  scatter_reduce,       ///< Bagua's: chunks to their owners (all-to-all), means to all ranks; one round each
  scatter_reduce_ring,  ///< the same, but means go around a ring, n − 1 rounds of one frame each
  all_gather            ///< chunks have no owners: each rank's whole frame goes to all ranks, which decode all of them
};
/// The parameter by which an algorithm is told, and its value; scatter_reduce unless given. Throws UsageError.
inline constexpr const char* frame_exchange_key = "exchange";
FrameExchange read_frame_exchange(Params& params);

/// C_LP_S: scatter-reduce of encoded chunks. Rank j encodes x_j + δ_j in n chunks, c_j = Q(x_j + δ_j), and keeps
/// δ_j ← x_j + δ_j − c_j; rank i, the owner ("server") of chunk i, adds that chunk of ranks i+1, …, i (mod n),
/// s = mean c_j, encodes Q(s + ε_i), keeps ε_i ← s + ε_i − Q(s + ε_i), and sends it to all. All ranks decode every
/// chunk, so replicas stay identical. Without error feedback δ and ε stay zero. Residuals belong to one bucket and to
/// the group that the hierarchy makes. A group of one has its mean already: nothing is encoded, and there are no
/// residuals but those that ranks which have left held, which it adds to its first x. Where whole frames are gathered
/// instead, chunks have no owners, and there is no ε. x is what the learning
/// rate γ will multiply, so residuals are multiplied by the γ of the call before over the present one first, as by
/// Zheng et al. (NeurIPS 2019, arXiv:1905.10936): what was left out then weighs what it weighed, and Σ γ_t C_LP_S(x_t)
/// + γ_T (mean δ + ε) = Σ γ_t mean x_t under any schedule.
class CentralizedLowPrecision {
 public:
  CentralizedLowPrecision(Worker& worker, const Bucket& bucket, std::shared_ptr<const Codec> codec, bool error_feedback,
                          FrameExchange exchange = FrameExchange::scatter_reduce);
  /// x ← C_LP_S(x), on a lane. The bucket's index enters the random key.
  void average(Worker& lane, Buffer x);

  /// δ of this rank, of its part in the group, and ε of its chunk; empty without error feedback.
  Buffer worker_residual() const { return worker_residual_; }
  Buffer server_residual() const { return server_residual_; }
  void list_state(State& state);

 private:
  void pay(Worker& lane, Buffer x);
  void gather_whole_frames(Worker& lane, Communicator& group, Buffer x);
  void scatter_reduce(Worker& lane, Communicator& group, Buffer x);
  void encode_worker(Worker& lane, Communicator& group, Buffer x, const Frames& frames);
  std::vector<KeyedFrame> in_order(const Worker& lane, const Communicator& group, const Frames& received) const;
  void serve(Worker& lane, Communicator& group, const Frames& received, Buffer mean, Buffer frame);
  void serve_with_feedback(Worker& lane, std::span<const KeyedFrame> received, Buffer mean, Buffer frame,
                           const Key& key);

  std::shared_ptr<const Codec> codec_;
  int bucket_;
  OwnedBuffer worker_residual_;
  OwnedBuffer server_residual_;
  Shape worker_shape_{}, server_shape_{};  ///< also where nobody owes anything yet, of a group of one
  Extent worker_extent_, server_extent_;   ///< where they lie in the bucket
  bool has_paid_ = false;
  bool error_feedback_;
  FrameExchange exchange_;
  double learning_rate_ = 0;      ///< of the last call; 0: none yet
  float residual_weight_ = 1.0F;  ///< that rate over the present one
};
/// Rounds and bytes of one such call.
Cost centralized_low_precision_cost(const CostQuery& query, const Shape& bucket, const Codec& codec,
                                    FrameExchange exchange = FrameExchange::scatter_reduce);

/// Throws UsageError when `codec` would diverge under error feedback for some chunk of these buckets (see
/// require_stable_under_feedback).
void require_stable_scatter_reduce(const CostQuery& query, const Codec& codec, const std::string& spec,
                                   FrameExchange exchange = FrameExchange::scatter_reduce);

}  // namespace trigram
