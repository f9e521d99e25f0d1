// Where peers connect.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "net/connection/handle.hpp"
#include "net/connection/hello.hpp"
#include "net/recv_comm.hpp"

namespace trigram::net {

/// Listens at one port of each interface, tells strangers from peers, and gives streams to the communicators that they
/// are of, at the beginning and when lost ones come back.
class Listener final : public Serviced, public std::enable_shared_from_this<Listener> {
 public:
  Listener(const std::vector<Interface>& interfaces, const Settings& settings);

  const Handle& handle() const { return handle_; }
  /// A new peer, once its streams are here; null before.
  std::shared_ptr<RecvComm> accept();
  /// No new peer is wanted. Lost streams still come back, while their communicators live.
  void close();

  bool tick(Clock::time_point now) override;

 private:
  /// Has connected, and said so many bytes of its hello.
  struct Stranger {
    Socket socket;
    std::array<std::byte, hello_bytes> hello{};
    std::size_t heard = 0;
    Clock::time_point deadline;
  };
  /// A peer that is not yet handed on.
  struct Arriving {
    std::shared_ptr<RecvComm> comm;
    Clock::time_point since;
  };

  void progress(Clock::time_point now);
  bool over(Stranger& stranger, Clock::time_point now);
  void welcome(const Hello& hello, Socket socket, Clock::time_point now);
  std::shared_ptr<RecvComm> comm_of(const Hello& hello, Clock::time_point now);
  void refuse(const char* reason);

  std::mutex mutex_;
  Settings settings_;
  Handle handle_;
  std::vector<Socket> sockets_;
  std::vector<Stranger> strangers_;
  std::map<Token, std::weak_ptr<RecvComm>> known_;
  std::vector<Arriving> arriving_;
  bool warned_ = false;
  bool closed_ = false;
};

}  // namespace trigram::net
