// What the plugin knows of this host while any communicator uses it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/connection/interfaces.hpp"
#include "net/device.hpp"
#include "net/send_comm.hpp"
#include "net/settings.hpp"
#include "net/stream/mover.hpp"

namespace trigram::net {

class Host {
 public:
  static Host& instance();

  /// Counts who uses it. The first use reads settings, finds interfaces and measures. Throws Error.
  void use();
  /// As a use that never ends, of versions of the interface that do not say when one does.
  void reside();
  /// True where that was the last use.
  bool leave();
  bool in_use();

  Device device();
  Settings settings();
  std::vector<Interface> interfaces();

  /// The next in turn of the threads that move large messages; null where callers move all.
  Mover* next_mover();

  /// The connection that was begun for that handle at that place in memory, or a new one. NCCL calls again with the
  /// same.
  std::shared_ptr<SendComm> connecting(const void* place, const Handle& handle);
  void end_connecting(const void* place, const Handle& handle);

 private:
  void look();
  void staff();
  std::string describe() const;

  std::mutex mutex_;
  int uses_ = 0;
  bool resident_ = false;
  Settings settings_;
  std::vector<Interface> interfaces_;
  std::string name_ = "trigram";
  std::string pci_path_;
  int speed_ = 0;
  double latency_us_ = 0;
  std::deque<Mover> movers_;  ///< of which the first `threads_` are in use
  std::size_t threads_ = 0;
  std::size_t turn_ = 0;
  std::map<std::pair<const void*, Token>, std::shared_ptr<SendComm>> connecting_;
};

}  // namespace trigram::net
