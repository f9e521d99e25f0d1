// Messages that are under way together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/process/lanes/lane_context.hpp"
#include "core/lane/communicator.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// Of one communicator. Messages beyond 1 GiB travel in pieces. What has not ended when it is gone is given up.
class Flight {
 public:
  /// How messages of errors call a rank of the communicator: "rank 3".
  using NameOfPeer = std::function<std::string(int peer)>;
  /// Which rank of the job a rank of the communicator is.
  using RankOfPeer = std::function<int(int peer)>;

  /// Without `rank_of_peer` the messages are none that a peer owes in a step of its own, and its end is no error.
  Flight(MPI_Comm comm, NameOfPeer name_of_peer, RankOfPeer rank_of_peer = {})
      : comm_(comm), name_of_peer_(std::move(name_of_peer)), rank_of_peer_(std::move(rank_of_peer)) {}
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  /// A receive from MPI_ANY_SOURCE takes the first that comes.
  void post(const Transfer& transfer, int tag);
  /// Returns when all have ended, with their statuses. Throws as wait_all, and Error where other sizes arrive than fit.
  std::vector<MPI_Status> wait(const LaneContext& lane, const std::function<std::string()>& operation);

 private:
  /// A message, or a part of one that MPI can count.
  struct Piece {
    bool receive;
    int peer;
    std::int64_t bytes;
  };

  MPI_Request begin(const Piece& piece, void* address, int tag) const;
  std::string describe(const Piece& piece) const;

  MPI_Comm comm_;
  NameOfPeer name_of_peer_;
  RankOfPeer rank_of_peer_;
  std::vector<Piece> pieces_;
  std::vector<MPI_Request> requests_;
};

}  // namespace trigram::mpi
