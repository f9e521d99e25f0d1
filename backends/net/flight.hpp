// Messages that a plugin moves together.
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backends/net/loaded_plugin.hpp"
#include "backends/torch/network.hpp"

namespace trigram::net_backend {

/// One direction of a connection. A plugin need not bear two callers at once.
struct CommEnd {
  std::mutex mutex;
  void* comm = nullptr;  ///< null before it is there, and after it was closed
};

/// Of one that is there.
void close(LoadedPlugin& plugin, CommEnd& end, bool receives);

/// The messages of one exchange, from the first call until all are over.
class Flight {
 public:
  Flight(LoadedPlugin& plugin, std::span<const torch::Message> messages,
         const std::function<CommEnd&(const torch::Message&)>& end_of);
  /// Closes connections with messages under way: a plugin reads and writes their memory until then.
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  /// Moves what can be moved. True where nothing is left to do, or something went wrong.
  bool moved();
  const torch::TransferError& error() const { return error_; }
  /// The same where the caller gives up: the first message that is not over, and why.
  torch::TransferError ends_with(const std::string& reason) const;

 private:
  struct Part {
    const torch::Message* message;
    CommEnd* end;
    void* request = nullptr;
    bool over = false;
  };

  void post(Part& part);
  void test(Part& part);
  void fail(const Part& part, const std::string& reason);

  LoadedPlugin& plugin_;
  std::vector<Part> parts_;
  torch::TransferError error_{-1, ""};
};

}  // namespace trigram::net_backend
