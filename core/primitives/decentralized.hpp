// D_FP_S and D_LP_S of Bagua (Gan et al., VLDB 2021, arXiv:2107.01499), on any topology, with hierarchy.
#pragma once

#include <memory>
#include <vector>

#include "core/device/codec.hpp"
#include "core/primitives/gossip.hpp"

namespace trigram {

/// D_FP_S: gossip of x alone. `round` counts communications, not steps.
void decentralized_full_precision(Worker& lane, const Topology& topology, std::int64_t round, Buffer x);
/// Rounds and bytes of one such call.
Cost decentralized_full_precision_cost(const CostQuery& query, const Topology& topology, std::int64_t round,
                                       const Shape& bucket);

/// D_LP_S by difference compression (DCD-PSGD, Tang et al., NeurIPS 2018, arXiv:1803.06443) on a fixed symmetric
/// topology. Vertex i keeps replicas x̂_j of its neighbours and x̂_i of itself; t is its weights after the local
/// update:
///   z = t + Σ_{j≠i} W_ij x̂_j + (W_ii − 2) x̂_i,   so that with exact messages x̂_i + z = Σ_j W_ij x̂_j + (t − x̂_i).
/// Q(z) travels as one frame to the neighbours; everyone adds it, x̂ += Q(z), and x = x̂_i. Replicas stay equal to what
/// they replicate, bit for bit; that of a neighbour that is gone stays what it was last. A group of one has nobody to
/// tell: x stays as it is, and there are no replicas.
class DecentralizedLowPrecision {
 public:
  /// Replicas start at the bucket's weights, which are equal on all ranks by then.
  DecentralizedLowPrecision(Worker& worker, const Bucket& bucket, std::shared_ptr<const Codec> codec,
                            std::shared_ptr<const Topology> topology);
  /// x ← the mixed, compressed weights; on a lane.
  void mix(Worker& lane, Buffer x);
  void list_state(State& state);

 private:
  void exchange_differences(Worker& lane, Communicator& group, Buffer x);
  void difference(Worker& lane, int self, const std::vector<int>& peers, Buffer x);

  std::shared_ptr<const Codec> codec_;
  std::shared_ptr<const Topology> topology_;
  int bucket_;
  OwnedBuffer self_;
  std::vector<OwnedBuffer> neighbours_;
};
/// Invariants of the method: encoded differences are about three gradients long, and ranks agree up to the codec's
/// error.
Invariants decentralized_low_precision_invariants(const CostQuery& query, const Topology& topology, const Codec& codec);
/// Rounds and bytes of one such call.
Cost decentralized_low_precision_cost(const CostQuery& query, const Topology& topology, const Shape& bucket,
                                      const Codec& codec);

}  // namespace trigram
