#include "backends/mpi/vendor.hpp"

#include "backends/mpi/check.hpp"
#include "backends/mpi/datatype.hpp"
#include "backends/mpi/packed.hpp"
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

void VendorCommunicator::all_reduce(Buffer x, ReduceOp op) {
  require_data(x, "mpi");
  if (!reducible(x)) return Communicator::all_reduce(x, op);
  MPI_Request request = MPI_REQUEST_NULL;
  check(
      MPI_Iallreduce(MPI_IN_PLACE, address_of(x), count_of(x), datatype(x.dtype()), operation(op), handle(), &request),
      "MPI_Iallreduce");
  finish(request, with_size(Collective::all_reduce, x.bytes()));
  finish_mean(*this, op, x);
}

void VendorCommunicator::reduce_scatter(Buffer x, ReduceOp op) {
  require_data(x, "mpi");
  if (!reducible(x)) return Communicator::reduce_scatter(x, op);
  std::vector<int> counts;
  for (int part = 0; part < size(); ++part) counts.push_back(count_of(x.chunk(part, size())));
  const Buffer own = x.chunk(rank(), size());
  const Buffer reduced = shaped_like(scratch(own.shape()), own);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ireduce_scatter(address_of(x), address_of(reduced), counts.data(), datatype(x.dtype()), operation(op),
                            handle(), &request),
        "MPI_Ireduce_scatter");
  finish(request, with_size(Collective::reduce_scatter, x.bytes()));
  copy_own(*this, reduced, own);
  finish_mean(*this, op, own);
}

void VendorCommunicator::all_gather(Buffer x) {
  countable_bytes(x);
  std::vector<int> counts;
  std::vector<int> places;
  for (int part = 0; part < size(); ++part) {
    counts.push_back(countable_bytes(x.chunk(part, size())));
    places.push_back(static_cast<int>(chunk_begin(x.count(), size(), part) * size_of(x.dtype())));
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, address_of(x), counts.data(), places.data(), MPI_BYTE, handle(),
                        &request),
        "MPI_Iallgatherv");
  finish(request, with_size(Collective::all_gather, x.bytes()));
}

void VendorCommunicator::all_gather(std::span<const Buffer> parts) {
  const Packed packed(device(), parts);
  packed.copy_in(rank());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, packed.address(), packed.counts(), packed.places(), MPI_BYTE,
                        handle(), &request),
        "MPI_Iallgatherv");
  finish(request, name_of(Collective::all_gather));
  packed.copy_out();
}

void VendorCommunicator::all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive) {
  const Packed out(device(), send);
  const Packed in(device(), receive);
  out.copy_in();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoallv(out.address(), out.counts(), out.places(), MPI_BYTE, in.address(), in.counts(), in.places(),
                       MPI_BYTE, handle(), &request),
        "MPI_Ialltoallv");
  finish(request, name_of(Collective::all_to_all));
  in.copy_out();
}

void VendorCommunicator::broadcast(Buffer x, int root) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(address_of(x), countable_bytes(x), MPI_BYTE, root, handle(), &request), "MPI_Ibcast");
  finish(request, with_size(Collective::broadcast, x.bytes()));
}

void VendorCommunicator::reduce(Buffer x, ReduceOp op, int root) {
  require_data(x, "mpi");
  if (!reducible(x)) return Communicator::reduce(x, op, root);
  const bool receives = rank() == root;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ireduce(receives ? MPI_IN_PLACE : address_of(x), receives ? address_of(x) : nullptr, count_of(x),
                    datatype(x.dtype()), operation(op), root, handle(), &request),
        "MPI_Ireduce");
  finish(request, with_size(Collective::reduce, x.bytes()));
  if (receives) finish_mean(*this, op, x);
}

void VendorCommunicator::gather(Buffer part, std::span<const Buffer> parts, int root) {
  const int bytes = countable_bytes(part);
  const Packed packed(device(), rank() == root ? parts : std::span<const Buffer>());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igatherv(address_of(part), bytes, MPI_BYTE, packed.address(), packed.counts(), packed.places(), MPI_BYTE,
                     root, handle(), &request),
        "MPI_Igatherv");
  finish(request, with_size(Collective::gather, part.bytes()));
  packed.copy_out();
}

void VendorCommunicator::scatter(std::span<const Buffer> parts, Buffer part, int root) {
  const int bytes = countable_bytes(part);
  const Packed packed(device(), rank() == root ? parts : std::span<const Buffer>());
  packed.copy_in();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iscatterv(packed.address(), packed.counts(), packed.places(), MPI_BYTE, address_of(part), bytes, MPI_BYTE,
                      root, handle(), &request),
        "MPI_Iscatterv");
  finish(request, with_size(Collective::scatter, part.bytes()));
}

void VendorCommunicator::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(handle(), &request), "MPI_Ibarrier");
  finish(request, name_of(Collective::barrier));
}

std::unique_ptr<Communicator> VendorCommunicator::regroup(std::string name, const std::vector<int>& members, int part) {
  return std::make_unique<VendorCommunicator>(this->part(members, part), std::move(name), world_ranks_of(members),
                                              lane());
}

}  // namespace trigram::mpi
