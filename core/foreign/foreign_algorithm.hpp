// An algorithm whose hooks are code of another language: the messages that such code gets, and what it may ask for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/lane/group_call.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

class ForeignAlgorithm;

/// What the code may ask for on a lane, until it returns.
class ForeignLane {
 public:
  /// `listing`: of the hook "list_state"; null in others.
  ForeignLane(Worker& worker, ForeignAlgorithm& algorithm, State* listing = nullptr)
      : worker_(worker), algorithm_(algorithm), listing_(listing) {}

  Worker& worker() { return worker_; }
  const std::span<Bucket>& buckets() const;
  /// A collective of the group "all", "node" or "leaders"; or, of none of them, one of one buffer that follows the
  /// run's hierarchy: "mean" (C_FP_S), or "gradient_mean" in the type in which gradients travel; they have no group.
  /// "exchange_with_those_there" is an exchange that leaves out who is gone (Communicator), whom `gone` tells then.
  /// Throws UsageError or Error for another word, and for what cannot be, before anything is sent.
  void perform(const std::string& group, const GroupCall& call);
  const std::vector<int>& gone() const { return gone_; }
  /// Starts a task of the code's own beside the main lane: on the lane of a bucket, or on the background lane (−1). The
  /// number is what the code then hears, and what `wait` and `done` take.
  void start(int bucket, std::int64_t number);
  void wait(std::int64_t number);
  bool done(std::int64_t number);
  /// Says that this step exchanges weights, in the hook "communicates".
  void communicates();
  /// In the hook "list_state" one item more, as Algorithm::list_state lists them: elements, which come with the next
  /// call of the group "state".
  void list(const std::string& name, Fate fate);
  /// The same of a text; what it is from then on.
  std::string list(const std::string& name, Fate fate, std::string text);

 private:
  Communicator& group(const std::string& name);
  State& listing();

  Worker& worker_;
  ForeignAlgorithm& algorithm_;
  State* listing_;
  std::optional<State::Item> coming_;  ///< whose elements have not come yet
  std::vector<int> gone_;              ///< in the last exchange with those who are there
};

/// The code, of all ranks that this process has.
class ForeignCode {
 public:
  virtual ~ForeignCode() = default;
  /// Throws UsageError where there is none.
  virtual void open() = 0;
  /// A hook by its name in Algorithm; `bucket` is −1 where it is of none. Throws what it fails with.
  virtual void hook(ForeignLane& lane, const std::string& name, int bucket) = 0;
  /// What `start` was given.
  virtual void task(ForeignLane& lane, std::int64_t number) = 0;
  /// The exchange of a bucket's gradients or weights, on its lane, where the code is of an ordinary shape.
  virtual void exchange(ForeignLane& lane, int bucket) = 0;
};

/// Tells the code those hooks that it has. Of the two ordinary shapes (core/step/bucketwise.hpp) code only exchanges,
/// and of the second says once a step, in the hook "communicates", whether it does: when exchanges start and who waits
/// for them is done here. Declares no cost: the meter counts what was sent.
class ForeignAlgorithm final : public Algorithm {
 public:
  ForeignAlgorithm(Params& params, std::shared_ptr<ForeignCode> code);

  Trigram trigram() const override { return trigram_; }
  Refusal refuses(Option option) const override;
  bool deterministic() const override { return deterministic_; }
  bool local_updates() const override { return local_updates_; }
  bool uses_optimizer() const override { return uses_optimizer_; }
  bool bears_absence() const override { return bears_absence_; }
  Cost cost(const CostQuery&) const override { return {}; }
  void check(const CostQuery&) const override { code_->open(); }

  void setup(Worker& worker, std::span<Bucket> buckets) override;
  void before_forward(Worker& worker) override { tell(worker, "before_forward"); }
  void gradients_ready(Worker& worker, Bucket& bucket) override;
  void before_update(Worker& worker) override;
  void update(Worker& worker, Bucket& bucket) override { tell(worker, "update", bucket.index); }
  void after_update(Worker& worker, Bucket& bucket) override;
  void after_step(Worker& worker) override;
  void finish(Worker& worker) override;
  void quiesce(Worker& worker) override { tell(worker, "quiesce"); }
  void list_state(State& state) override;

 private:
  friend class ForeignLane;
  /// What the code has exchanged for each bucket.
  enum class Exchanges : std::uint8_t { nothing, gradients, weights };
  static Exchanges read_exchanges(Params& params);

  void tell(Worker& worker, const std::string& hook, int bucket = -1);
  void start_exchange(Worker& worker, Bucket& bucket);
  bool communicates(Worker& worker);

  Trigram trigram_;
  bool deterministic_, local_updates_, uses_optimizer_, hierarchical_, bears_absence_;
  Exchanges exchanges_;
  std::set<std::string> hooks_;  ///< none: all
  std::shared_ptr<ForeignCode> code_;
  std::span<Bucket> buckets_;
  Worker* main_ = nullptr;  ///< whose hooks these are, from `setup` on
  PendingBuckets pending_;
  std::int64_t asked_in_step_ = -1;  ///< whether the code communicates
  bool communicates_ = false;
  std::map<std::int64_t, Pending> begun_;  ///< touched on the main lane only
};

}  // namespace trigram
