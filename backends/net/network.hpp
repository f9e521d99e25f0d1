// A net plugin as what connects the ranks of a job: what torch.distributed is to backend 'torch'.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "backends/net/links.hpp"
#include "backends/net/loaded_plugin.hpp"
#include "backends/torch/network.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram::net_backend {

/// There is at most one a process. It lives as long as the ranks' rendezvous, by which handles are exchanged.
class Network {
 public:
  /// Collective. Loads the plugin and has it look at this host. Throws UsageError where there is none, or it refuses.
  Network(Rendezvous& rendezvous, const std::string& plugin);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Rendezvous& rendezvous() const { return rendezvous_; }
  /// What the plugin says of itself, for the report of a run.
  nlohmann::json facts() const;
  /// The functions by which ranks reach it.
  torch::Network functions() const;

  /// As torch::Network::Ask means it: "open", "tell", "connect", "end", "close".
  nlohmann::json answer(const nlohmann::json& question);
  torch::TransferError carry(int connections, int lane, std::span<const torch::Message> messages, double seconds);

 private:
  std::shared_ptr<Links> links(int number);
  nlohmann::json open(const nlohmann::json& question);
  nlohmann::json tell(const nlohmann::json& question);
  nlohmann::json connect(const nlohmann::json& question);
  nlohmann::json end(const nlohmann::json& question);
  nlohmann::json close(const nlohmann::json& question);

  Rendezvous& rendezvous_;
  std::unique_ptr<LoadedPlugin> plugin_;
  std::mutex mutex_;
  int opened_ = 0;
  std::map<int, std::shared_ptr<Links>> links_;
};

}  // namespace trigram::net_backend
