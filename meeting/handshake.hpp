// The first words on a connection, after which both ends know that they are of one job.
#pragma once

#include <string>

#include "meeting/secret.hpp"
#include "meeting/socket.hpp"

namespace trigram {

/// What a process says of itself while it proves that it knows the secret.
struct Introduction {
  int rank = 0;
  int ranks = 1;
  std::string job;
};

/// One connection's. Each end draws a nonce and proves that it knows the secret by a MAC over both nonces and what it
/// says: what was heard on one connection proves nothing on another, and a stranger hears no more than that it is one.
class Handshake {
 public:
  static constexpr double seconds = 10;  ///< in which it must be over

  explicit Handshake(const Secret& secret) : secret_(secret) {}

  /// The connecting end; `there` is for messages, "tcp:node0:29501". Throws UsageError if the other end does not know
  /// the secret, or does not want this process, with its reason; BackendError if it hangs up, as when it is busy.
  void introduce(Socket& socket, const Introduction& own, const std::string& there);

  /// The listening end hears an introduction, and then answers with an empty text or why the process is not wanted.
  /// Throws BackendError for whatever else there is on a network.
  Introduction hear(Socket& socket);
  void answer(Socket& socket, const std::string& refusal) const;

 private:
  Bytes message(const std::string& speaker, const Bytes& text) const;

  const Secret& secret_;
  Bytes nonces_;  ///< the connecting end's, the listening end's
};

}  // namespace trigram
