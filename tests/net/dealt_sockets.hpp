// Messages dealt to connections in turn, before anybody knows which of them is fast.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/connection/socket.hpp"

namespace trigram::tests {

/// The design, as numbers.
struct Dealing {
  int threads = 0;  ///< 0: whoever tests moves all
  int sockets = 1;  ///< connections a thread, or of all where there is no thread
  std::size_t least = 64 << 10;
  bool hurries = false;  ///< within a host, with the plugin's control of congestion

  int connections() const { return threads > 0 ? threads * sockets : sockets; }
};

/// A message under way; `left` counts its parts.
struct DealtRequest {
  std::byte* data = nullptr;
  std::uint64_t size = 0;
  std::uint64_t capacity = 0;
  bool known = false;  ///< its size, to the receiver
  bool used = false;
  std::atomic<int> left = 0;
  std::atomic<bool> failed = false;
};

class DealtSockets {
 public:
  DealtSockets(bool sends, const Dealing& dealing, net::Socket control, std::vector<net::Socket> sockets);
  ~DealtSockets();

  DealtRequest* post(void* data, std::size_t size);
  /// False where the peer is gone.
  bool test(DealtRequest& request, bool& done);

 private:
  struct Part {
    DealtRequest* request;
    std::byte* data;
    std::size_t left;
  };
  struct Lane {
    net::Socket socket;
    std::mutex mutex;
    std::deque<Part> parts;
  };

  void deal(DealtRequest& request);
  void move_sizes();
  bool move(Lane& lane);
  void work(int thread);

  bool sends_;
  Dealing dealing_;
  net::Socket control_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t next_ = 0;
  DealtRequest requests_[32];
  std::deque<DealtRequest*> without_size_;
  std::size_t size_moved_ = 0;
  std::uint64_t heard_ = 0;
  std::mutex sleeping_;
  std::condition_variable woken_;
  std::atomic<int> parts_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trigram::tests
