#include "backends/mpi/host_group.hpp"

#include <numeric>

#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/session.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram::mpi {
namespace {

/// Only sent from: MPI and Buffer know no const.
Buffer buffer_of(const Bytes& bytes) {
  return {const_cast<std::byte*>(bytes.data()), Shape::of(static_cast<std::int64_t>(bytes.size()), DType::u8)};
}

std::vector<Buffer> buffers_of(const HostGroup::Parts& parts) {
  std::vector<Buffer> buffers;
  for (const Bytes& part : parts) buffers.push_back(buffer_of(part));
  return buffers;
}

std::vector<int> all_ranks() {
  std::vector<int> ranks(static_cast<std::size_t>(Session::join().ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

MpiHostGroup::MpiHostGroup(double timeout, Failure& failure)
    : timeline_([] { return 0.0; }, false),
      device_(cpu_kernels(), timeline_),
      watched_(duplicate_of_world(timeout), "all ranks", all_ranks(),
               std::make_shared<LaneContext>("control", timeout, failure, device_)),
      patient_(duplicate_of_world(timeout), "all ranks", all_ranks(),
               std::make_shared<LaneContext>("control", 0, failure, device_)) {}

/// As many bytes as each rank brings.
HostGroup::Parts MpiHostGroup::room_for_parts(Communicator& comm, const Bytes& own) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(comm.size()));
  sizes[static_cast<std::size_t>(comm.rank())] = static_cast<std::int64_t>(own.size());
  comm.all_gather(Buffer(sizes.data(), Shape::of(comm.size(), DType::i64)));
  Parts parts;
  for (const std::int64_t size : sizes) parts.emplace_back(static_cast<std::size_t>(size));
  return parts;
}

HostGroup::Parts MpiHostGroup::all_gather(const Bytes& own, Patience patience) {
  Communicator& comm = for_patience(patience);
  Parts parts = room_for_parts(comm, own);
  parts[static_cast<std::size_t>(rank())] = own;
  comm.all_gather(buffers_of(parts));
  return parts;
}

HostGroup::Parts MpiHostGroup::gather(const Bytes& own, Patience patience) {
  Communicator& comm = for_patience(patience);
  Parts parts = room_for_parts(comm, own);
  if (rank() != 0) parts.clear();
  comm.gather(buffer_of(own), buffers_of(parts), 0);
  return parts;
}

}  // namespace trigram::mpi
