// Sockets between every two ranks of a group (see nccl.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace nccl_on_host {

/// Two ranks of one host sit on one GPU.
struct DuplicateGpu : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One message. Messages of a pair match in order.
struct Message {
  bool receive;
  int peer;
  std::byte* address;
  std::size_t bytes;
};

/// Hears that a peer is gone, in words.
using Lost = std::function<void(const std::string&)>;

/// One rank's end. `aborted` ends every wait, and nothing else does one for a peer that is gone.
class Mesh {
 public:
  /// Connects to all ranks of the group `name`; `gpu` says which GPU of which host a rank uses. Throws
  /// std::runtime_error when aborted, DuplicateGpu for two equal GPUs.
  Mesh(const std::string& name, int rank, int ranks, const std::string& gpu, const std::atomic<bool>& aborted,
       Lost lost);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  /// Returns when all have been sent and received. Throws std::runtime_error when aborted.
  void move(std::vector<Message> messages);

 private:
  void meet(int socket, const std::string& gpu);
  void check() const;
  bool advance(Message& message, int socket);

  int rank_;
  const std::atomic<bool>& aborted_;
  const Lost lost_;
  std::vector<int> sockets_;  ///< by peer
};

}  // namespace nccl_on_host
