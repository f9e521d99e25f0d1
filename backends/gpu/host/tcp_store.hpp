// A store that rank 0 serves over TCP.
#pragma once

#include <memory>
#include <mutex>

#include "backends/gpu/host/store_server.hpp"

namespace trigram::gpu {

/// One connection to rank 0, which has one to itself.
class TcpStore final : public Store {
 public:
  /// Rank 0 serves on `port`; the others try to reach it for `seconds`. Throws UsageError when rank 0 refuses, with its
  /// reason, or cannot listen; BackendError when nobody answers.
  TcpStore(const std::string& host, int port, const std::string& job, int rank, double seconds);

  void put(const std::string& key, const Bytes& value) override;
  bool claim(const std::string& key, const Bytes& value) override;
  std::optional<Bytes> get(const std::string& key) override;
  void erase(const std::string& key) override;
  std::unique_ptr<Store> another() override;
  void close(bool failed) override;
  std::string place() const override;
  std::string hint() const override { return server_ == nullptr ? "" : server_->turned_away(); }

 private:
  TcpStore(std::unique_ptr<StoreServer> server, std::string host, int port, std::string job, int rank, double seconds);
  Bytes ask(Request request, const std::string& key, const Bytes& value);

  std::unique_ptr<StoreServer> server_;
  std::string host_;
  int port_;
  std::string job_;
  int rank_;
  std::mutex mutex_;
  Socket socket_;
};

}  // namespace trigram::gpu
