#include "backends/mpi/messages/flight.hpp"

#include <algorithm>

#include "backends/mpi/check.hpp"
#include "backends/mpi/messages/datatype.hpp"
#include "backends/mpi/messages/wait.hpp"
#include "core/values/error.hpp"

namespace trigram::mpi {

Flight::~Flight() {
  for (std::size_t i = 0; i < requests_.size(); ++i) abandon(requests_[i], pieces_[i].receive);
}

void Flight::post(const Transfer& transfer, int tag) {
  auto* address = static_cast<std::byte*>(address_of(transfer.buffer));
  std::int64_t rest = transfer.buffer.bytes();
  do {
    const Piece piece{transfer.direction == Transfer::Direction::receive, transfer.peer, std::min(rest, piece_bytes)};
    pieces_.push_back(piece);
    requests_.push_back(MPI_REQUEST_NULL);
    requests_.back() = begin(piece, address, tag);
    if (address != nullptr) address += piece.bytes;
    rest -= piece.bytes;
  } while (rest > 0);
}

MPI_Request Flight::begin(const Piece& piece, void* address, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto bytes = static_cast<int>(piece.bytes);
  if (piece.receive) {
    check(MPI_Irecv(address, bytes, MPI_BYTE, piece.peer, tag, comm_, &request), "MPI_Irecv");
  } else {
    check(MPI_Isend(address, bytes, MPI_BYTE, piece.peer, tag, comm_, &request), "MPI_Isend");
  }
  return request;
}

std::vector<MPI_Status> Flight::wait(const LaneContext& lane, const std::function<std::string()>& operation) {
  Subject subject{operation, [this](std::size_t i) { return describe(pieces_[i]); }};
  if (rank_of_peer_) subject.ranks = [this](std::size_t i) { return std::vector{rank_of_peer_(pieces_[i].peer)}; };
  const std::vector<MPI_Status> statuses = wait_all(requests_, lane, subject);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!pieces_[i].receive) continue;
    int arrived = 0;
    MPI_Get_count(&statuses[i], MPI_BYTE, &arrived);
    ensure(
        arrived == pieces_[i].bytes, operation, ": ", arrived, " bytes arrived for ",
        [&] { return describe(pieces_[i]); }, "; both ends must name the same size");
  }
  return statuses;
}

std::string Flight::describe(const Piece& piece) const {
  if (piece.peer == MPI_ANY_SOURCE) return name_of_peer_(piece.peer);
  return std::string(piece.receive ? "a receive" : "a send") + " of " + std::to_string(piece.bytes) + " bytes " +
         (piece.receive ? "from " : "to ") + name_of_peer_(piece.peer);
}

}  // namespace trigram::mpi
