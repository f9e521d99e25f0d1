// Messages that no exchange expects, between processes of MPI.
#pragma once

#include "backends/process/mail.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// One rank's end, on a communicator of its own once it was opened.
class MpiMail final : public Mail {
 public:
  /// `timeout` as for duplicate_of_world; the failure outlives it.
  MpiMail(double timeout, const Failure& failure) : timeout_(timeout), failure_(failure) {}
  ~MpiMail() override;
  MpiMail(const MpiMail&) = delete;
  MpiMail& operator=(const MpiMail&) = delete;

  void open(bool serves) override;
  void carry(std::span<const TaggedMessage> messages, const LaneContext& lane, const std::string& operation) override;
  std::pair<int, Envelope> take(const LaneContext& lane, double seconds, const std::string& operation,
                                const std::string& what) override;

 private:
  double timeout_;
  const Failure& failure_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace trigram::mpi
