// A rank's end of torch.distributed, for one run.
#pragma once

#include <memory>

#include "backends/process/transport.hpp"
#include "backends/torch/communicator.hpp"
#include "backends/torch/endings.hpp"
#include "backends/torch/mail.hpp"
#include "backends/torch/place.hpp"
#include "backends/torch/watch.hpp"

namespace trigram::torch {

/// Ranks meet at a place that rank 0 has told by torch.distributed. Buffers' bytes go by torch.distributed, and signs
/// of life, settings and results by the meeting place.
class TorchTransport final : public Transport {
 public:
  /// `timeout`: seconds that one operation may wait; 0: forever.
  TorchTransport(const Network& network, const Place& place, double timeout);

  HostGroup& host() override { return *rendezvous_; }
  void connect(int lanes) override;
  std::unique_ptr<Communicator> communicator(int lane, const RankPartition& partition,
                                             const std::shared_ptr<LaneContext>& context) override;
  Mail& mail() override { return mail_; }
  Endings* endings() override { return &endings_; }
  bool leaves_out() const override { return point_to_point_.leaves_out(); }
  void end_messages() override { point_to_point_.end_all(); }
  void fail(const std::exception_ptr& error) noexcept override;

 private:
  Connections connections_;
  std::unique_ptr<Rendezvous> rendezvous_;
  NotedEndings endings_;
  PointToPoint point_to_point_;
  std::shared_ptr<LaneLine> line_;  ///< of the lane whose communicators are being made
  std::unique_ptr<FailureWatch> watch_;
  TorchMail mail_;  ///< whose threads end while somebody can still wake them
};

}  // namespace trigram::torch
