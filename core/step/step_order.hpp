// Checks the order in which the hooks of a step are called, and which gradients each bucket still waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/step/bucket.hpp"

namespace trigram {

/// The hooks of a TrainingStep, in the order in which a loop calls them; `begin` to `end` once per step.
enum class Hook : std::uint8_t { setup, begin, gradient, before_update, update, end, finish };

/// Follows one rank through its hooks, each between `enter` and `leave`. A hook that is called out of order is an Error
/// that names it, the step, the bucket, and the hook that must be called next. After a hook that failed, and so was
/// entered and not left, no other may be called.
class StepOrder {
 public:
  /// The buckets outlive it. `update` is the name of that hook in error messages.
  StepOrder(int rank, std::span<const Bucket> buckets, std::string update);

  void enter(Hook hook);
  void enter_begin(std::int64_t step);
  /// The gradient of a tensor, by its index in the workload's list, or of the next bucket as a whole, is there.
  void enter_tensor(int parameter);
  void enter_bucket(int index);
  /// The gradients of all that is left are there.
  void enter_rest();
  /// The first bucket that is complete and was not taken yet.
  std::optional<std::size_t> take_complete();
  void leave();
  /// Throws Error unless the loop is between two steps, or before the first one; `came` is what was called.
  void require_between_steps(const char* came) const;
  /// No hook may be called any more.
  void abandon() noexcept;

 private:
  struct Place {
    std::size_t bucket;
    std::size_t tensor;
    bool ready;
  };

  template <class Text>
  void expect(Hook hook, const Text& came);
  void find_tensors();
  Hook after(Hook hook) const;
  std::string what_comes() const;
  std::string missing_tensors() const;
  std::string where() const;

  int rank_;
  std::span<const Bucket> buckets_;
  std::string update_;
  std::vector<std::optional<Place>> places_;  ///< by parameter; empty until a tensor comes alone
  std::vector<std::size_t> missing_;          ///< tensors whose gradients each bucket waits for
  std::size_t next_bucket_ = 0;
  std::int64_t step_ = -1;
  std::optional<Hook> next_ = Hook::setup;  ///< none within a hook, after one that failed and after the last
  Hook last_ = Hook::setup;                 ///< the one that was entered last
  bool abandoned_ = false;
};

}  // namespace trigram
