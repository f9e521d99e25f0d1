#include "backends/mpi/communicator.hpp"

#include <algorithm>
#include <numeric>

#include "backends/mpi/check.hpp"
#include "backends/mpi/deadline.hpp"
#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/flight.hpp"
#include "backends/mpi/memory.hpp"
#include "backends/mpi/whereabouts.hpp"
#include "core/error.hpp"
#include "core/real_data.hpp"

namespace trigram::mpi {
namespace {

std::vector<int> ranks_in_world(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> world(own.size());
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world_group = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  MPI_Group_translate_ranks(group, size, own.data(), world_group, world.data());
  MPI_Group_free(&group);
  MPI_Group_free(&world_group);
  return world;
}

bool is_receive(const Transfer& transfer) { return transfer.direction == Transfer::Direction::receive; }

}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm comm, std::string name, std::shared_ptr<const LaneContext> lane)
    : comm_(comm), name_(std::move(name)), lane_(std::move(lane)), world_ranks_(ranks_in_world(comm)) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  if (lane_->timeout > 0) Whereabouts::of_this_process().count(lane_->name + ", " + name_, &sequence_);
}

MpiCommunicator::~MpiCommunicator() {
  Whereabouts::of_this_process().forget(&sequence_);
  // Others may still be waiting in it, and freeing is collective.
  if (!lane_->failure.raised()) MPI_Comm_free(&comm_);
}

/// Receives come first, so that what arrives finds its place.
void MpiCommunicator::exchange(std::span<const Transfer> transfers) {
  if (transfers.empty()) return;
  ++sequence_;
  for (const Transfer& transfer : transfers) {
    require(transfer.peer >= 0 && transfer.peer < size(), "rank ", transfer.peer, " is no rank of a group of ", size(),
            "; ranks count from 0");
    require_data(transfer.buffer, "mpi");
  }
  Flight flight(comm_,
                [this](int peer) { return "rank " + std::to_string(world_ranks_[static_cast<std::size_t>(peer)]); });
  for (const bool receives : {true, false}) {
    for (const Transfer& transfer : transfers) {
      if (is_receive(transfer) == receives) flight.post(transfer, 0);
    }
  }
  flight.wait(*lane_, [this] { return describe("exchange"); });
}

std::string MpiCommunicator::describe(const std::string& operation) const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string doing = lane_->device.timeline().doing();
  return lane_->place(rank) + ", " + name_ + ": " + operation + " number " + std::to_string(sequence_) +
         (doing.empty() || doing == operation ? "" : " (in " + doing + ")");
}

void MpiCommunicator::finish(MPI_Request request, const std::string& operation) {
  ++sequence_;
  const Subject subject{[&] { return describe(operation); },
                        [this](std::size_t) { return "the other " + std::to_string(size() - 1) + " ranks"; }};
  try {
    wait_all(std::span(&request, 1), *lane_, subject);
  } catch (...) {
    keep_memory();  // MPI cannot withdraw a collective
    throw;
  }
}

std::unique_ptr<Communicator> MpiCommunicator::split(int color, int key) {
  auto communicator = like_this(part_of(comm_, dense(color), key, lane_->timeout));
  communicator->use_all_reduce(all_reduce_name());
  return communicator;
}

/// MPI takes no negative color: the place of `color` among all that were given.
int MpiCommunicator::dense(int color) const {
  const Deadline deadline("MPI_Comm_split", lane_->timeout);
  std::vector<int> colors(world_ranks_.size());
  check(MPI_Allgather(&color, 1, MPI_INT, colors.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  return static_cast<int>(std::ranges::count_if(colors, [&](int other) { return other < color; }));
}

std::unique_ptr<Communicator> MpiCommunicator::like_this(MPI_Comm comm) const {
  return std::make_unique<MpiCommunicator>(comm, "a group split from " + name_, lane_);
}

}  // namespace trigram::mpi
