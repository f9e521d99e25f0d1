#include "backends/mpi/vendor.hpp"

#include "backends/mpi/check.hpp"
#include "backends/mpi/messages/datatype.hpp"
#include "backends/mpi/messages/packed.hpp"
#include "core/collectives/reduction.hpp"
#include "core/lane/real_data.hpp"

namespace trigram::mpi {
namespace {

int count_of(const Buffer& x) { return static_cast<int>(x.count()); }

/// "all_reduce of 1024 bytes".
std::string with_size(Collective collective, std::int64_t bytes) {
  return std::string(name_of(collective)) + " of " + std::to_string(bytes) + " bytes";
}

}  // namespace

bool VendorCommunicator::performs(const CollectiveCall& call) {
  const bool reduces = call.collective == Collective::all_reduce || call.collective == Collective::reduce_scatter ||
                       call.collective == Collective::reduce;
  return !reduces || reducible(call.x);
}

void VendorCommunicator::perform(const CollectiveCall& call) {
  if (!performs(call)) return Communicator::perform(call);
  switch (call.collective) {
    case Collective::all_reduce:
      return all_reduce(call);
    case Collective::reduce_scatter:
      return reduce_scatter(call);
    case Collective::all_gather:
      return call.parts.empty() ? all_gather(call) : all_gather_parts(call);
    case Collective::all_to_all:
      return all_to_all(call);
    case Collective::broadcast:
      return broadcast(call);
    case Collective::reduce:
      return reduce(call);
    case Collective::gather:
      return gather(call);
    case Collective::scatter:
      return scatter(call);
    case Collective::barrier:
      return barrier();
  }
}

void VendorCommunicator::all_reduce(const CollectiveCall& call) {
  require_data(call.x, "mpi");
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, address_of(call.x), count_of(call.x), datatype(call.x.dtype()), operation(call.op),
                       handle(), &request),
        "MPI_Iallreduce");
  finish(request, with_size(Collective::all_reduce, call.x.bytes()));
  finish_mean(*this, call.op, call.x);
}

void VendorCommunicator::reduce_scatter(const CollectiveCall& call) {
  require_data(call.x, "mpi");
  std::vector<int> counts;
  for (int part = 0; part < size(); ++part) counts.push_back(count_of(call.x.chunk(part, size())));
  const Buffer own = call.x.chunk(rank(), size());
  const Buffer reduced = shaped_like(scratch(own.shape()), own);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ireduce_scatter(address_of(call.x), address_of(reduced), counts.data(), datatype(call.x.dtype()),
                            operation(call.op), handle(), &request),
        "MPI_Ireduce_scatter");
  finish(request, with_size(Collective::reduce_scatter, call.x.bytes()));
  copy_own(*this, reduced, own);
  finish_mean(*this, call.op, own);
}

void VendorCommunicator::all_gather(const CollectiveCall& call) {
  countable_bytes(call.x);
  std::vector<int> counts;
  std::vector<int> places;
  for (int part = 0; part < size(); ++part) {
    counts.push_back(countable_bytes(call.x.chunk(part, size())));
    places.push_back(static_cast<int>(chunk_begin(call.x.count(), size(), part) * size_of(call.x.dtype())));
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, address_of(call.x), counts.data(), places.data(), MPI_BYTE, handle(),
                        &request),
        "MPI_Iallgatherv");
  finish(request, with_size(Collective::all_gather, call.x.bytes()));
}

void VendorCommunicator::all_gather_parts(const CollectiveCall& call) {
  const Packed packed(device(), call.parts);
  packed.copy_in(rank());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, packed.address(), packed.counts(), packed.places(), MPI_BYTE,
                        handle(), &request),
        "MPI_Iallgatherv");
  finish(request, name_of(Collective::all_gather));
  packed.copy_out();
}

void VendorCommunicator::all_to_all(const CollectiveCall& call) {
  const Packed out(device(), call.parts);
  const Packed in(device(), call.received);
  out.copy_in();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoallv(out.address(), out.counts(), out.places(), MPI_BYTE, in.address(), in.counts(), in.places(),
                       MPI_BYTE, handle(), &request),
        "MPI_Ialltoallv");
  finish(request, name_of(Collective::all_to_all));
  in.copy_out();
}

void VendorCommunicator::broadcast(const CollectiveCall& call) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(address_of(call.x), countable_bytes(call.x), MPI_BYTE, call.root, handle(), &request), "MPI_Ibcast");
  finish(request, with_size(Collective::broadcast, call.x.bytes()));
}

void VendorCommunicator::reduce(const CollectiveCall& call) {
  require_data(call.x, "mpi");
  const bool receives = rank() == call.root;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ireduce(receives ? MPI_IN_PLACE : address_of(call.x), receives ? address_of(call.x) : nullptr,
                    count_of(call.x), datatype(call.x.dtype()), operation(call.op), call.root, handle(), &request),
        "MPI_Ireduce");
  finish(request, with_size(Collective::reduce, call.x.bytes()));
  if (receives) finish_mean(*this, call.op, call.x);
}

void VendorCommunicator::gather(const CollectiveCall& call) {
  const int bytes = countable_bytes(call.x);
  const Packed packed(device(), rank() == call.root ? call.parts : std::span<const Buffer>());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igatherv(address_of(call.x), bytes, MPI_BYTE, packed.address(), packed.counts(), packed.places(), MPI_BYTE,
                     call.root, handle(), &request),
        "MPI_Igatherv");
  finish(request, with_size(Collective::gather, call.x.bytes()));
  packed.copy_out();
}

void VendorCommunicator::scatter(const CollectiveCall& call) {
  const int bytes = countable_bytes(call.x);
  const Packed packed(device(), rank() == call.root ? call.parts : std::span<const Buffer>());
  packed.copy_in();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iscatterv(packed.address(), packed.counts(), packed.places(), MPI_BYTE, address_of(call.x), bytes, MPI_BYTE,
                      call.root, handle(), &request),
        "MPI_Iscatterv");
  finish(request, with_size(Collective::scatter, call.x.bytes()));
}

void VendorCommunicator::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(handle(), &request), "MPI_Ibarrier");
  finish(request, name_of(Collective::barrier));
}

std::unique_ptr<Communicator> VendorCommunicator::make_part(std::string name, const std::vector<int>& members,
                                                            int part) {
  return std::make_unique<VendorCommunicator>(this->part(members, part), std::move(name), world_ranks_of(members),
                                              lane());
}

}  // namespace trigram::mpi
