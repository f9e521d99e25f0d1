// The handle of a task that was started on a lane.
#pragma once

#include <memory>
#include <utility>

namespace trigram {

/// The handle that Worker::start returns. A default one is finished already. The destructor waits, and swallows the
/// task's error, since another is already on its way or the caller chose not to look.
class Pending {
 public:
  /// What a backend knows of one started task.
  class State {
   public:
    virtual ~State() = default;
    virtual bool done() = 0;
    virtual void wait() = 0;
  };

  Pending() = default;
  explicit Pending(std::unique_ptr<State> state) : state_(std::move(state)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&& other) noexcept;
  ~Pending();

  /// Whether the task has ended; local, never blocks. An algorithm that polls this is not deterministic on real
  /// backends.
  bool done() const { return state_ == nullptr || state_->done(); }
  /// Orders the caller after the task and rethrows its error. Later calls do nothing.
  void wait();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace trigram
