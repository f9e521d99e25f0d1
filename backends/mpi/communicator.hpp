// A group of ranks as an MPI communicator of its own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/process/process_communicator.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// Nonblocking sends and receives on a communicator that only one lane uses, so that messages match in order without
/// tags. Real bytes travel: a phantom buffer is a UsageError. Messages beyond 1 GiB travel in pieces.
class MpiCommunicator : public ProcessCommunicator {
 public:
  /// Takes over `comm`, whose ranks `world_ranks` are, and frees it unless the rank has failed by then.
  MpiCommunicator(MPI_Comm comm, std::string name, std::vector<int> world_ranks, LaneOfGroup lane);
  ~MpiCommunicator() override;
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  void exchange(std::span<const Transfer> transfers) override;

 protected:
  std::unique_ptr<Communicator> make_part(std::string name, const std::vector<int>& members, int part) override;
  /// Of some of its ranks.
  MPI_Comm part(const std::vector<int>& members, int part) const;
  MPI_Comm handle() const { return comm_; }
  /// Counts an operation of this communicator and waits for it: "all_reduce of 1024 bytes".
  void finish(MPI_Request request, const std::string& operation);

 private:
  MPI_Comm comm_;
};

}  // namespace trigram::mpi
