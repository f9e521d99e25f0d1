// Lanes that wait for ever are woken.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "backends/torch/point_to_point.hpp"

namespace trigram::torch {

/// A lane inside of torch.distributed hears nothing until its messages end. This thread ends all of them where some
/// rank has failed, or a lane of this one has and its others make no end by themselves; and where a lane waits for a
/// rank that has ended.
class FailureWatch {
 public:
  /// They outlive it.
  FailureWatch(const PointToPoint& point_to_point, Rendezvous& rendezvous, Failure& failure);
  ~FailureWatch();
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;

 private:
  void watch();
  bool over();

  const PointToPoint& point_to_point_;
  Rendezvous& rendezvous_;
  Failure& failure_;
  double raised_since_ = 0;  ///< by seconds_now; 0: it is not
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace trigram::torch
