#include "backends/mpi/transport.hpp"

#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/messages/memory.hpp"
#include "backends/mpi/session.hpp"
#include "backends/mpi/vendor.hpp"

namespace trigram::mpi {

MpiTransport::MpiTransport(bool vendor_collectives, double timeout)
    : vendor_collectives_(vendor_collectives),
      host_(timeout, failure()),
      mail_(timeout, failure()),
      endings_(timeout) {}

std::shared_ptr<Kernels> MpiTransport::kernels() { return kernels_of_this_process(); }

std::unique_ptr<Communicator> MpiTransport::communicator(int /*lane*/, const RankPartition& partition,
                                                         const std::shared_ptr<LaneContext>& context) {
  const auto own = static_cast<std::size_t>(host_.rank());
  MPI_Comm comm = part_of(MPI_COMM_WORLD, partition.color[own], partition.key[own], context->timeout);
  const std::vector<int> world_ranks = partition.group_of(host_.rank());
  if (vendor_collectives_) return std::make_unique<VendorCommunicator>(comm, partition.name, world_ranks, context);
  return std::make_unique<MpiCommunicator>(comm, partition.name, world_ranks, context);
}

void MpiTransport::mark_lost() noexcept { Session::mark_lost(); }

}  // namespace trigram::mpi
