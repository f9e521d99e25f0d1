// Messages without appointment between processes that torch.distributed connects.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/torch/arrivals.hpp"
#include "backends/torch/carrier.hpp"
#include "core/service.hpp"
#include "processes/lane_context.hpp"

namespace trigram::torch {

/// What requests need of their rank, all of which outlives them.
struct RequestsPlace {
  int ranks;
  int serving_lane;
  int line;  ///< the lane on which they travel, which is no other's
  const Carrier& carrier;
  std::function<const LaneContext&(int lane)> context;
  /// Gives lane `line` its connections, and the ranks that serve, of what each says. Collective.
  std::function<std::set<int>(bool serves)> connect;
};

/// One rank's end. A request is an envelope and its bytes; these and the reply find their lane by a tag. Nobody who
/// waits in gloo for any rank hears that connections broke, so a rank that serves has a thread for each of the others.
class TorchRequests final : public Requests {
 public:
  explicit TorchRequests(RequestsPlace place) : place_(std::move(place)) {}
  ~TorchRequests() override;
  TorchRequests(const TorchRequests&) = delete;
  TorchRequests& operator=(const TorchRequests&) = delete;

  void open(bool serves) override;
  void ask(int lane, std::span<const Ask> asks) override;
  std::unique_ptr<Request> next() override;
  void leave() override;
  void exclusively(const std::function<void()>& body) override;

 private:
  class Asked;
  struct Reply {
    Message message;
    OwnedBuffer bytes;
  };
  void hear(int asker);
  void send_replies();
  void carry(std::span<const Message> messages, const LaneContext& context, const char* operation);
  std::string describe(const LaneContext& lane, const char* operation) const;

  RequestsPlace place_;
  std::set<int> serving_;  ///< ranks
  std::unique_ptr<Arrivals> arrivals_;
  std::vector<std::thread> ears_;
  std::vector<Reply> replies_;  ///< that are not sent yet; of the serving lane
  std::mutex guard_;
};

}  // namespace trigram::torch
