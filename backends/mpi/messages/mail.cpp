#include "backends/mpi/messages/mail.hpp"

#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/messages/flight.hpp"
#include "core/lane/real_data.hpp"

namespace trigram::mpi {

MpiMail::~MpiMail() {
  // Others may still be waiting in it, and freeing is collective.
  if (comm_ != MPI_COMM_NULL && !failure_.raised()) MPI_Comm_free(&comm_);
}

void MpiMail::open(bool /*serves*/) {
  comm_ = duplicate_of_world(timeout_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

void MpiMail::carry(std::span<const TaggedMessage> messages, const LaneContext& lane, const std::string& operation) {
  Flight flight(comm_, [](int rank) { return "rank " + std::to_string(rank); });
  for (const auto& [transfer, tag] : messages) {
    require_data(transfer.buffer, "mpi");
    flight.post(transfer, static_cast<int>(tag));
  }
  flight.wait(lane, [&] { return operation; });
}

std::pair<int, Envelope> MpiMail::take(const LaneContext& lane, double seconds, const std::string& operation,
                                       const std::string& what) {
  const LaneContext patient(lane.name, seconds, lane.failure, lane.device);
  Envelope envelope;
  Flight flight(comm_, [&](int) { return what; });
  flight.post(Transfer::receive_from(MPI_ANY_SOURCE, envelope.bytes()), envelope_tag);
  const int from = flight.wait(patient, [&] { return operation; }).front().MPI_SOURCE;
  return {from, envelope};
}

}  // namespace trigram::mpi
