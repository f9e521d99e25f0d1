// PowerSGD: the mean gradient as products of two thin matrices, one subspace iteration a step, with error feedback
// against what all ranks apply.
//   M = g + e;  P = orthonormal(mean M Q);  Q = mean Mᵀ P;  g ← P Qᵀ;  e = M − g;  x ← x − γ g, and Q is kept.
//   rounds 4(n−1), bytes 8 r (rows + columns) (n−1)/n a matrix and rank with the ring; vectors travel whole, beside P.
#include <algorithm>

#include "core/bucketwise.hpp"
#include "core/error.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

/// A tensor as a matrix of its first dimension × all others, and the rank of its product; zeros for a vector.
struct Factored {
  std::int64_t rows = 0, columns = 0, rank = 0;

  Factored(const Dimensions& dimensions, std::int64_t most) {
    if (dimensions.size() < 2) return;
    rows = dimensions[0];
    columns = 1;
    for (std::size_t i = 1; i < dimensions.size(); ++i) columns *= dimensions[i];
    rank = std::min({most, rows, columns});
  }
};

/// A tensor of a bucket and its shares of what is exchanged: P and Q of a matrix; beside them, a vector.
struct Part {
  Tensor tensor;
  Factored real, modelled;
  Tensor left = {}, right = {};
};

/// The shares of a bucket, one after the other.
struct Plan {
  std::vector<Part> matrices, vectors;
  Shape left, right;

  Plan(std::span<const Tensor> tensors, const Shape& bucket, std::int64_t most)
      : left{0, bucket.dtype, 0, bucket.phantom}, right(left) {
    for (const Tensor& tensor : tensors) {
      Part part{tensor, {tensor.dimensions, most}, {tensor.modelled_dimensions, most}};
      // What costs as a matrix is sent as one, unless what it stands for is a vector.
      if (part.modelled.rank == 0 || (tensor.count > 0 && part.real.rank == 0)) {
        part.left = share(left, tensor.count, tensor.modelled_count);
        vectors.push_back(part);
        continue;
      }
      const auto& [rows, columns, rank] = part.modelled;
      part.left = share(left, part.real.rows * part.real.rank, rows * rank);
      part.right = share(right, part.real.columns * part.real.rank, columns * rank);
      matrices.push_back(part);
    }
  }

  static Tensor share(Shape& of, std::int64_t count, std::int64_t modelled_count) {
    Tensor next;
    next.offset = of.count;
    next.count = count;
    next.modelled_count = modelled_count;
    of.count += count;
    of.modelled_count += modelled_count;
    return next;
  }
};

/// What a rank keeps for a bucket: e, P and Q.
struct Factors {
  Plan plan;
  OwnedBuffer error, left, right;
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
    return held;
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) {
      const Plan plan(bucket.tensors, bucket.gradients.shape(), rank_);
      Key key = worker.key(bucket.index, Phase::algorithm);
      key.rank = 0;  // Q is the same on all ranks
      factors_.push_back({plan, worker.device.allocate(bucket.gradients.shape()),
                          worker.device.allocate_unfilled(plan.left), worker.device.allocate_unfilled(plan.right)});
      worker.device.fill_normal(factors_.back().right, key);
    }
  }

  /// P is computed anew in every step.
  void list_state(State& state) override {
    for (const Factors& of_bucket : factors_) {
      state.buffer("error", of_bucket.error);
      state.buffer("right", of_bucket.right);
    }
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    if (lane.world() == 1) return;
    const Factors& own = factors_[static_cast<std::size_t>(bucket.index)];
    lane.device.fused(Activity::encode, "project", [&] { project(lane.device, bucket.gradients, own); });
    centralized_full_precision(lane, own.left);
    if (!own.plan.matrices.empty()) {
      lane.device.fused(Activity::encode, "orthonormalise", [&] { orthonormalise(lane.device, own); });
      centralized_full_precision(lane, own.right);
    }
    lane.device.fused(Activity::decode, "multiply", [&] { multiply(lane.device, own, bucket.gradients); });
  }

  /// M = g + e takes the place of e; P = M Q.
  static void project(Device& device, Buffer gradients, const Factors& own) {
    for (const Part& v : own.plan.vectors) device.copy(v.tensor.of(gradients), v.left.of(own.left));
    for (const Part& m : own.plan.matrices) {
      device.axpby(1, m.tensor.of(gradients), 1, m.tensor.of(own.error));
      device.gemm({m.real.rows, m.real.rank, m.real.columns}, m.tensor.of(own.error), m.right.of(own.right),
                  m.left.of(own.left));
    }
  }

  /// P ← orthonormal(P); Q = Mᵀ P.
  static void orthonormalise(Device& device, const Factors& own) {
    std::vector<TallMatrix> all;
    for (const Part& m : own.plan.matrices) all.push_back({m.left.of(own.left), m.real.rank, m.modelled.rank});
    device.orthonormalise(all);
    for (const Part& m : own.plan.matrices) {
      device.gemm({m.real.columns, m.real.rank, m.real.rows, true}, m.tensor.of(own.error), m.left.of(own.left),
                  m.right.of(own.right));
    }
  }

  /// g ← P Qᵀ; e = M − g.
  static void multiply(Device& device, const Factors& own, Buffer gradients) {
    for (const Part& v : own.plan.vectors) device.copy(v.left.of(own.left), v.tensor.of(gradients));
    for (const Part& m : own.plan.matrices) {
      device.gemm({m.real.rows, m.real.columns, m.real.rank, false, true}, m.left.of(own.left), m.right.of(own.right),
                  m.tensor.of(gradients));
      device.axpby(-1, m.tensor.of(gradients), 1, m.tensor.of(own.error));
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
