// The plugin's background thread, which attends to communicators while no caller is in them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/comm.hpp"

namespace trigram::net {

/// Runs as long as there is something to look after: paths that come back, peers that left, messages whose
/// acknowledgement nobody waits for.
class Service {
 public:
  static Service& instance();
  ~Service();

  void add(std::shared_ptr<Serviced> one);
  /// Waits until nothing is left to look after, or so long.
  void drain(double seconds);
  /// Where figures are written every second; empty: nowhere.
  void write_metrics_to(const std::string& file);

 private:
  Service();
  void run();
  void look_after(Clock::time_point now);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Serviced>> looked_after_;
  std::string metrics_;
  bool running_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trigram::net
