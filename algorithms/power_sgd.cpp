// PowerSGD: the mean gradient as products of two thin matrices, one subspace iteration a step, with error feedback
// against what all ranks apply.
//   M = g + e;  P = orthonormal(mean M Q);  Q = mean Mᵀ P;  g ← P Qᵀ;  e = M − g;  x ← x − γ g, and Q is kept.
//   rounds 4(n−1), bytes 8 r (rows + columns) (n−1)/n per matrix and rank with the ring; vectors go whole, beside P.
#include <algorithm>
#include <utility>

#include "core/primitives/centralized.hpp"
#include "core/primitives/matrix_tensor.hpp"
#include "core/step/bucketwise.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

/// A matrix M of a bucket, the rank of its product, and the shares of P and Q in what is exchanged.
struct Factored {
  MatrixTensor matrix;
  std::int64_t rank, modelled_rank;
  Tensor left = {}, right = {};

  Factored(const MatrixTensor& of, std::int64_t most)
      : matrix(of),
        rank(std::min({most, of.real.rows, of.real.columns})),
        modelled_rank(std::min({most, of.modelled.rows, of.modelled.columns})) {}
};

/// A vector, and its share beside P.
struct Whole {
  Tensor tensor, left;
};

/// The shares of a bucket, one after the other in the order of its tensors.
struct Plan {
  std::vector<Factored> matrices;
  std::vector<Whole> vectors;
  Shape left, right;

  Plan(std::span<const Tensor> tensors, const Shape& bucket, std::int64_t most)
      : left{0, bucket.dtype, 0, bucket.phantom}, right(left) {
    for (const Tensor& tensor : tensors) {
      const std::optional<MatrixTensor> matrix = as_matrix(tensor);
      if (!matrix) {
        vectors.push_back({tensor, next_share(left, tensor.count, tensor.modelled_count)});
        continue;
      }
      Factored part(*matrix, most);
      const MatrixSize &real = matrix->real, &modelled = matrix->modelled;
      part.left = next_share(left, real.rows * part.rank, modelled.rows * part.modelled_rank);
      part.right = next_share(right, real.columns * part.rank, modelled.columns * part.modelled_rank);
      matrices.push_back(part);
    }
  }
};

/// What a rank keeps for a bucket: e, P and Q.
struct Factors {
  Plan plan;
  OwnedBuffer error, left, right;
  Shape whole;
  bool is_paid = false;
};

class PowerSgd final : public GradientMethod {
 public:
  explicit PowerSgd(Params& params)
      : rank_(params.get("rank", std::int64_t{4}, "rank that is kept of each matrix", {1, 1 << 20})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "rank=1"}; }

  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const BucketLayout& bucket) {
      const Plan plan(bucket.tensors, bucket.shape, rank_);
      const Cost left = centralized_full_precision_cost(query, plan.left);
      return plan.matrices.empty() ? left : left + centralized_full_precision_cost(query, plan.right);
    });
  }

  void check(const CostQuery& query) const override {
    for (const BucketLayout& bucket : query.buckets) {
      if (!Plan(bucket.tensors, bucket.shape, rank_).matrices.empty()) return;
    }
    throw UsageError(
        "power_sgd sends matrices as products of thin ones, and no tensor of this workload is known to have two "
        "dimensions; take a model with matrices, as mlp, or give its profile's table a column 'dimensions'");
  }

  /// g is mean M projected onto the columns of P, so mean e is never longer than all mean gradients together.
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    held.mean_error = 1;
    held.settles = 1;
    return held;
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) {
      const Plan plan(bucket.tensors, bucket.gradients.shape(), rank_);
      Key key = worker.key(bucket.index, Phase::algorithm);
      key.rank = 0;  // Q is the same on all ranks
      const Shape whole = bucket.gradients.shape();
      factors_.push_back({plan, worker.world_size() > 1 ? worker.device.allocate(whole) : OwnedBuffer(),
                          worker.device.allocate_unfilled(plan.left), worker.device.allocate_unfilled(plan.right),
                          whole});
      worker.device.fill_normal(factors_.back().right, key);
    }
  }

  /// P is computed anew in every step.
  void list_state(State& state) override {
    for (Factors& of_bucket : factors_) {
      state.room("error", of_bucket.error, of_bucket.whole, Fate::averaged);
      state.buffer("right", of_bucket.right);
    }
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    Factors& own = factors_[static_cast<std::size_t>(bucket.index)];
    if (lane.world_size() == 1) return pay(lane.device, bucket.gradients, own);
    lane.device.fused(Activity::encode, "project", [&] { project(lane.device, bucket.gradients, own); });
    centralized_full_precision(lane, own.left);
    if (!own.plan.matrices.empty()) {
      lane.device.fused(Activity::encode, "orthonormalise", [&] { orthonormalise(lane.device, own); });
      centralized_full_precision(lane, own.right);
    }
    lane.device.fused(Activity::decode, "multiply", [&] { multiply(lane.device, own, bucket.gradients); });
  }

  /// A rank alone sends nothing; others who have left may not have sent all.
  static void pay(Device& device, Buffer gradients, Factors& own) {
    if (own.error.view().empty() || std::exchange(own.is_paid, true)) return;
    for (const Factored& m : own.plan.matrices) {
      const Tensor& tensor = m.matrix.tensor;
      device.axpby(1, tensor.of(own.error), 1, tensor.of(gradients));
    }
    device.fill(own.error, 0);
  }

  /// M = g + e takes the place of e; P = M Q.
  static void project(Device& device, Buffer gradients, const Factors& own) {
    for (const Whole& v : own.plan.vectors) device.copy(v.tensor.of(gradients), v.left.of(own.left));
    for (const Factored& m : own.plan.matrices) {
      const auto& [tensor, real, modelled] = m.matrix;
      device.axpby(1, tensor.of(gradients), 1, tensor.of(own.error));
      device.gemm({real.rows, m.rank, real.columns}, tensor.of(own.error), m.right.of(own.right), m.left.of(own.left));
    }
  }

  /// P ← orthonormal(P); Q = Mᵀ P.
  static void orthonormalise(Device& device, const Factors& own) {
    std::vector<TallMatrix> all;
    for (const Factored& m : own.plan.matrices) all.push_back({m.left.of(own.left), m.rank, m.modelled_rank});
    device.orthonormalise(all);
    for (const Factored& m : own.plan.matrices) {
      const auto& [tensor, real, modelled] = m.matrix;
      device.gemm({real.columns, m.rank, real.rows, true}, tensor.of(own.error), m.left.of(own.left),
                  m.right.of(own.right));
    }
  }

  /// g ← P Qᵀ; e = M − g.
  static void multiply(Device& device, const Factors& own, Buffer gradients) {
    for (const Whole& v : own.plan.vectors) device.copy(v.left.of(own.left), v.tensor.of(gradients));
    for (const Factored& m : own.plan.matrices) {
      const auto& [tensor, real, modelled] = m.matrix;
      device.gemm({real.rows, real.columns, m.rank, false, true}, m.left.of(own.left), m.right.of(own.right),
                  tensor.of(gradients));
      device.axpby(-1, tensor.of(gradients), 1, tensor.of(own.error));
    }
  }

  std::int64_t rank_;
  std::vector<Factors> factors_;
};

const Algorithms::Registration registration(
    "power_sgd",
    {"average gradients as products of thin matrices, with error feedback",
     "Vogels et al., PowerSGD, NeurIPS 2019, arXiv:1905.13727",
     "Large matrices on slow networks: a rank of 2 or 4 is some hundredths of the bytes.",
     "Models of vectors and small matrices, and fast networks: orthogonalisation takes its time."},
    [](Params& params) { return std::make_unique<PowerSgd>(params); });

}  // namespace
}  // namespace trigram
