// A store that rank 0 serves over TCP.
#pragma once

#include <memory>
#include <mutex>

#include "meeting/store/store_server.hpp"

namespace trigram {

/// Seconds.
struct TcpTimes {
  double answer = 6;    ///< the server answers from memory; one that says nothing for so long is gone
  double farewell = 3;  ///< rank 0 stays for so long until others have learned why the job ends
};

/// One connection to rank 0, which has one to itself.
class TcpStore final : public Store {
 public:
  /// Rank 0 serves at `host` and `port`, or, where that is 0, at a free one; the others try to reach it for `seconds`;
  /// 0: forever. Throws UsageError when rank 0 refuses, with its reason, or cannot listen; BackendError when nobody
  /// answers.
  TcpStore(const std::string& host, int port, const Member& member, double seconds, TcpTimes times = {});

  int port() const { return port_; }
  void put(const std::string& key, const Bytes& value) override;
  bool claim(const std::string& key, const Bytes& value) override;
  std::optional<Bytes> get(const std::string& key) override;
  void erase(const std::string& key) override;
  std::unique_ptr<Store> another() override;
  void close(bool failed) override;
  std::string place() const override;
  std::string hint() const override { return server_ == nullptr ? "" : server_->hint(); }

 private:
  TcpStore(std::unique_ptr<StoreServer> server, std::string host, int port, Member member, Secret secret,
           double seconds, TcpTimes times);
  Socket reach(double seconds) const;
  Bytes ask(StoreRequest request, const std::string& key, const Bytes& value);

  std::unique_ptr<StoreServer> server_;
  std::string host_;
  int port_;
  Member member_;
  Secret secret_;
  TcpTimes times_;
  std::mutex mutex_;
  Socket socket_;
};

}  // namespace trigram
