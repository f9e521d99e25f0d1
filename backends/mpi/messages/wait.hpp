// Waiting for requests in a way that notices failures and leaves the processor to others.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/process/lanes/lane_context.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// Names what is waited for, when a message is due: "exchange 17 of rank 2 ...", each request by its place, and the
/// ranks of the job without whose next steps it does not end, where there are such.
struct Subject {
  std::function<std::string()> operation;
  std::function<std::string(std::size_t)> request;
  std::function<std::vector<int>(std::size_t)> ranks = {};
};

/// Returns when all requests have completed, with their statuses. Throws BackendError when the watchdog's time has
/// passed, naming what is still open, or what is open waits for a rank that has ended; the rank's first error when
/// another lane has failed and this one makes no progress either; and BackendError for what MPI reports.
std::vector<MPI_Status> wait_all(std::span<MPI_Request> requests, const LaneContext& lane, const Subject& subject);

/// Gives up a request that nobody waits for any more: withdraws a receive that has not begun. What MPI is in the middle
/// of goes on, and so keeps its memory.
void abandon(MPI_Request& request, bool receive);

}  // namespace trigram::mpi
