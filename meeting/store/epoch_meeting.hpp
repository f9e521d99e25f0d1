// Where the ranks of one epoch meet, of a job whose members come and go and have found each other by other means.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "meeting/rendezvous.hpp"
#include "meeting/store/tcp_store.hpp"

namespace trigram {

/// One rank's seat in an epoch: it is connected, and others may still come.
class EpochSeat {
 public:
  /// How an epoch is reached, and how soon a rank that is silent there is missed.
  struct Terms {
    int rank = 0, ranks = 1;
    std::string host;      ///< rank 0 listens there; the others reach it by that name
    int port = 0;          ///< rank 0: any free one
    std::string secret;    ///< the same for all its ranks
    double patience = 0;   ///< seconds in which they come; 0: forever
    double silence = 6.0;  ///< seconds without a sign of life after which a rank counts as lost
  };

  /// Throws UsageError where rank 0 cannot listen, BackendError where it does not answer.
  explicit EpochSeat(const Terms& terms);

  const Member& member() const { return member_; }
  /// At which rank 0 listens; before `meet`.
  int port() const { return store_->port(); }
  /// Returns when all are there; once. Throws as StoreRendezvous.
  std::unique_ptr<Rendezvous> meet();

 private:
  Terms terms_;
  Member member_;
  std::unique_ptr<TcpStore> store_;
};

/// Of the backend that this thread makes next, which takes it.
void keep_seat(std::unique_ptr<EpochSeat> seat);
/// Null where none is kept.
std::unique_ptr<EpochSeat> take_seat();

}  // namespace trigram
