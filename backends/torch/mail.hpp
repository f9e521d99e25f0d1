// Messages that no exchange expects, between processes that torch.distributed connects.
#pragma once

#include <thread>
#include <vector>

#include "backends/process/mail.hpp"
#include "backends/torch/arrivals.hpp"
#include "backends/torch/point_to_point.hpp"

namespace trigram::torch {

/// One rank's end, on a lane of its own. Nobody who waits in gloo for any rank hears that connections broke, so a rank
/// that takes envelopes has a thread for each of the others.
class TorchMail final : public Mail {
 public:
  /// Both outlive it.
  TorchMail(const PointToPoint& point_to_point, const Connections& connections, int ranks)
      : point_to_point_(point_to_point), connections_(connections), ranks_(ranks) {}
  ~TorchMail() override;
  TorchMail(const TorchMail&) = delete;
  TorchMail& operator=(const TorchMail&) = delete;

  /// The lane on which these messages travel: the one after those of the rank.
  void use_lane(int lane) { lane_ = lane; }

  void open(bool serves) override;
  void carry(std::span<const TaggedMessage> tagged, const LaneContext& lane, const std::string& operation) override;
  std::vector<int> carry_with_those_there(std::span<const TaggedMessage> tagged, const LaneContext& lane,
                                          const std::string& operation) override;
  std::pair<int, Envelope> take(const LaneContext& lane, double seconds, const std::string& operation,
                                const std::string& what) override;

  /// Whoever takes envelopes gets this error.
  void end(const std::exception_ptr& error) noexcept { arrivals_.fail(error); }

 private:
  void hear(int asker);
  std::vector<Message> to_others(std::span<const TaggedMessage> tagged);

  const PointToPoint& point_to_point_;
  const Connections& connections_;
  int ranks_;
  int lane_ = 0;
  Arrivals arrivals_;
  std::vector<std::thread> ears_;
};

}  // namespace trigram::torch
