// A rank of one epoch, in a process that goes on when the epoch is over.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "backends/gpu/host/met_ranks.hpp"
#include "backends/gpu/rank_process.hpp"
#include "core/training/backend.hpp"

namespace trigram::gpu {

/// Makes the rank itself, in a process that has taken its GPU.
using MakeRank = std::function<std::unique_ptr<EnteredRank>(RankProcess&)>;

/// Where another rank is lost, or somebody asks for it, its groups of NCCL are aborted, and whatever waits ends with an
/// error: nothing that the device has computed since counts. With it go its groups, streams and connections.
class EnteredEpoch final : public EnteredRank {
 public:
  /// Collective. Throws as RankProcess; the others learn why.
  EnteredEpoch(MetRanks ranks, int device, double timeout, const MakeRank& make);
  ~EnteredEpoch() override;
  EnteredEpoch(const EnteredEpoch&) = delete;
  EnteredEpoch& operator=(const EnteredEpoch&) = delete;

  RankRuntime& runtime() override { return rank_->runtime(); }
  void follow(void* stream) override { rank_->follow(stream); }
  void* stream_of(int lane) override { return rank_->stream_of(lane); }
  void begin_step(std::int64_t begun) override { rank_->begin_step(begun); }
  void tell_end(std::int64_t steps) override { rank_->tell_end(steps); }
  void require_whole() override { way_out_->require_shut(); }
  std::function<void(const std::string&)> way_out() override;
  Outcome leave(const std::vector<std::byte>& result) override { return rank_->leave(result); }
  void fail(std::exception_ptr error) noexcept override { rank_->fail(std::move(error)); }

 private:
  std::shared_ptr<WayOut> way_out_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::unique_ptr<RankProcess> process_;
  std::unique_ptr<EnteredRank> rank_;
};

}  // namespace trigram::gpu
