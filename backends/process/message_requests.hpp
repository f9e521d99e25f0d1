// RPC by messages between processes: a serving rank receives requests from any rank.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "backends/process/host_exchange.hpp"
#include "backends/process/mail.hpp"
#include "core/lane/service.hpp"

namespace trigram {

/// One rank's end. A request is a header (Envelope) and its bytes; the tag of these and of the reply names the asking
/// lane. A run without RPC sends nothing.
class MessageRequests final : public Requests {
 public:
  using ContextOfLane = std::function<const LaneContext&(int lane)>;
  /// All of these outlive it; `lanes` may be asked once requests are opened.
  MessageRequests(Mail& mail, HostExchange& host, ContextOfLane lanes, int serving_lane)
      : mail_(mail), host_(host), lanes_(std::move(lanes)), serving_lane_(serving_lane) {}

  void open(bool serves) override;
  void ask(int lane, std::span<const Ask> asks) override;
  std::vector<int> ask_those_there(int lane, std::span<const Ask> asks) override;
  std::unique_ptr<Request> next() override;
  void leave() override;
  void exclusively(const std::function<void()>& function) override;

 private:
  class Asked;
  class Questions;
  struct Reply {
    TaggedMessage message;
    OwnedBuffer bytes;
  };
  void send_replies();
  std::string describe(const LaneContext& lane, const char* operation) const;

  Mail& mail_;
  HostExchange& host_;
  ContextOfLane lanes_;
  int serving_lane_;
  std::set<int> serving_;  ///< ranks
  std::set<int> askers_;   ///< ranks that have not left; empty on a rank that does not serve
  bool opened_ = false;
  bool ending_ = false;         ///< this rank has left
  std::vector<Reply> replies_;  ///< that are not sent yet; of the serving lane
  std::mutex guard_;
};

}  // namespace trigram
