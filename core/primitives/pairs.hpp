// Averaging in pairs by RPC, as AD-PSGD does it: what methods share that differ in what a pair sends.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lane/service.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

/// An even rank is active: in each step it asks a random odd neighbour, overlapped with forward and backward. An odd
/// rank is passive: on its background lane it mixes what comes into a copy of its weights and replies, whatever it does
/// itself; after each step it adds to that copy what the step changed, and takes it as its weights. So no two ranks
/// wait for each other. Who asks one that is gone, where the backend leaves out such, keeps its weights, and asks that
/// one no more. A method says what travels. Reads `topology`.
class PairAveraging : public Algorithm, private Service {
 public:
  explicit PairAveraging(Params& params);

  bool deterministic() const final { return false; }
  bool asks() const final { return true; }
  bool bears_absence() const final { return true; }
  bool reads_gradients() const final { return false; }
  Refusal refuses(Option option) const final;
  /// Of an active rank's step, and of one reply: how many a passive rank gives is up to those who ask.
  Cost cost(const CostQuery& query) const final;
  void check(const CostQuery& query) const final;

  void setup(Worker& worker, std::span<Bucket> buckets) final;
  void before_forward(Worker& worker) final;
  void before_update(Worker& worker) final;
  void after_step(Worker& worker) final;
  void finish(Worker& worker) final;
  /// Passive ranks take what others have mixed in for their own, so that weights are all that is to be known.
  void quiesce(Worker& worker) final;
  void list_state(State& state) final {
    state.buffers("shared", shared_, Fate::anew).buffers("before", before_, Fate::anew);
  }

 protected:
  /// Of a message about such a bucket, either way.
  virtual std::int64_t message_bytes(const Shape& bucket) const = 0;
  /// Allocates memory for messages; once per bucket, in the order of buckets, on every rank.
  virtual void allocate(Worker& worker, const Bucket& bucket) = 0;
  /// An active rank's question about its weights, which stay as they are until `settle`. On the main lane.
  virtual Ask question(Worker& worker, const Bucket& bucket, int peer) = 0;
  /// The reply is there: what `settle` needs. On the bucket's lane.
  virtual void answered(Worker&, int /*bucket*/) {}
  /// Mixes the reply into an active rank's weights. On the main lane.
  virtual void settle(Worker& worker, const Bucket& bucket) = 0;
  /// Mixes a question into `own`, a passive rank's copy of its weights, and gives the reply. On the background lane.
  virtual Buffer answer(Worker& lane, const Request& request, Buffer own) = 0;

 private:
  std::vector<int> partners(int ranks, int rank) const;
  void take(Worker& lane, const Request& request) final;
  std::optional<Buffer> give(Worker&, const Request&) final { return reply_; }

  std::string owner_;
  std::string topology_;
  std::vector<int> partners_;   ///< whom this rank asks, while they are there; none on a passive one
  std::optional<int> asked_;    ///< in this step
  std::vector<char> left_out_;  ///< by bucket, whether no reply came
  std::span<Bucket> buckets_;
  std::vector<OwnedBuffer> shared_;  ///< what a passive rank serves
  std::vector<OwnedBuffer> before_;  ///< its weights as its step found them
  Buffer reply_;                     ///< to the request taken last
  PendingBuckets pending_;
  Serving serving_;
};

}  // namespace trigram
