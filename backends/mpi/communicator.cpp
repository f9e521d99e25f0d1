#include "backends/mpi/communicator.hpp"

#include <algorithm>

#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/messages/flight.hpp"
#include "backends/mpi/messages/memory.hpp"
#include "backends/mpi/messages/wait.hpp"
#include "backends/mpi/session.hpp"
#include "backends/mpi/whereabouts.hpp"

namespace trigram::mpi {

MpiCommunicator::MpiCommunicator(MPI_Comm comm, std::string name, std::vector<int> world_ranks, LaneOfGroup lane)
    : ProcessCommunicator(std::move(name), std::move(world_ranks), Session::join().rank(), std::move(lane)),
      comm_(comm) {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  if (this->lane()->timeout > 0)
    Whereabouts::of_this_process().count(this->lane()->name + ", " + this->name(), &operations());
}

MpiCommunicator::~MpiCommunicator() {
  Whereabouts::of_this_process().forget(&operations());
  // Others may still be waiting in it, and freeing is collective.
  if (!lane()->failure.raised()) MPI_Comm_free(&comm_);
}

/// Receives come first, so that what arrives finds its place.
void MpiCommunicator::exchange(std::span<const Transfer> transfers) {
  if (transfers.empty()) return;
  count_operation();
  require_possible(transfers, "mpi");
  Flight flight(
      comm_, [this](int peer) { return "rank " + std::to_string(world_rank(peer)); },
      [this](int peer) { return world_rank(peer); });
  for (const bool receives : {true, false}) {
    for (const Transfer& transfer : transfers) {
      if (is_receive(transfer) == receives) flight.post(transfer, 0);
    }
  }
  flight.wait(*lane(), [this] { return describe("exchange"); });
}

void MpiCommunicator::finish(MPI_Request request, const std::string& operation) {
  count_operation();
  const Subject subject{[&] { return describe(operation); },
                        [this](std::size_t) { return "the other " + std::to_string(size() - 1) + " ranks"; },
                        [this](std::size_t) { return world_ranks(); }};
  try {
    wait_all(std::span(&request, 1), *lane(), subject);
  } catch (...) {
    keep_memory();  // MPI cannot withdraw a collective
    throw;
  }
}

MPI_Comm MpiCommunicator::part(const std::vector<int>& members, int part) const {
  const auto place = std::ranges::find(members, rank()) - members.begin();
  return part_of(comm_, part, static_cast<int>(place), lane()->timeout);
}

std::unique_ptr<Communicator> MpiCommunicator::make_part(std::string name, const std::vector<int>& members, int part) {
  return std::make_unique<MpiCommunicator>(this->part(members, part), std::move(name), world_ranks_of(members), lane());
}

}  // namespace trigram::mpi
