#include "backends/gpu/vendor.hpp"

#include "core/collectives/reduction.hpp"
#include "core/lane/real_data.hpp"
#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

ncclDataType_t datatype(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return ncclFloat32;
    case DType::f16:
      return ncclFloat16;
    case DType::bf16:
      return ncclBfloat16;
    case DType::u8:
      return ncclUint8;
    case DType::i32:
      return ncclInt32;
    case DType::i64:
      return ncclInt64;
  }
  throw Error("not an element type");
}

bool is_integer(DType dtype) { return dtype == DType::u8 || dtype == DType::i32 || dtype == DType::i64; }

/// The mean of floats is a sum that is divided as ours is; of integers NCCL divides the sum towards zero, as ours does.
ncclRedOp_t operation(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::sum:
      return ncclSum;
    case ReduceOp::min:
      return ncclMin;
    case ReduceOp::max:
      return ncclMax;
    case ReduceOp::mean:
      return is_integer(dtype) ? ncclAvg : ncclSum;
  }
  throw Error("not a reduction");
}

std::size_t count_of(const Buffer& x) { return static_cast<std::size_t>(x.count()); }

bool has_equal_parts(const Buffer& x, int parts) {
  return x.chunk(0, parts).count() == x.chunk(parts - 1, parts).count();
}

}  // namespace

bool VendorCommunicator::performs(Collective collective) const {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::all_gather || collective == Collective::broadcast ||
         collective == Collective::reduce;
}

void VendorCommunicator::all_reduce(Buffer x, ReduceOp op) {
  require_data(x, "gpu");
  if (x.count() == 0) return;
  order(name_of(Collective::all_reduce), x.bytes(), [&](ncclComm_t comm) {
    return nccl().all_reduce(x.raw(), x.raw(), count_of(x), datatype(x.dtype()), operation(op, x.dtype()), comm,
                             lane()->stream);
  });
  finish_float_mean(op, x);
}

void VendorCommunicator::reduce_scatter(Buffer x, ReduceOp op) {
  require_data(x, "gpu");
  if (!has_equal_parts(x, size())) return Communicator::reduce_scatter(x, op);
  if (x.count() == 0) return;
  const Buffer own = x.chunk(rank(), size());
  order(name_of(Collective::reduce_scatter), x.bytes(), [&](ncclComm_t comm) {
    return nccl().reduce_scatter(x.raw(), own.raw(), count_of(own), datatype(x.dtype()), operation(op, x.dtype()), comm,
                                 lane()->stream);
  });
  finish_float_mean(op, own);
}

void VendorCommunicator::all_gather(Buffer x) {
  require_data(x, "gpu");
  if (!has_equal_parts(x, size())) return Communicator::all_gather(x);
  if (x.count() == 0) return;
  const Buffer own = x.chunk(rank(), size());
  order(name_of(Collective::all_gather), x.bytes(), [&](ncclComm_t comm) {
    return nccl().all_gather(own.raw(), x.raw(), count_of(own), datatype(x.dtype()), comm, lane()->stream);
  });
}

void VendorCommunicator::broadcast(Buffer x, int root) {
  require_data(x, "gpu");
  if (root < 0 || root >= size() || x.count() == 0) return Communicator::broadcast(x, root);
  order(name_of(Collective::broadcast), x.bytes(), [&](ncclComm_t comm) {
    return nccl().broadcast(x.raw(), x.raw(), static_cast<std::size_t>(x.bytes()), ncclUint8, root, comm,
                            lane()->stream);
  });
}

void VendorCommunicator::reduce(Buffer x, ReduceOp op, int root) {
  require_data(x, "gpu");
  if (root < 0 || root >= size() || x.count() == 0) return Communicator::reduce(x, op, root);
  order(name_of(Collective::reduce), x.bytes(), [&](ncclComm_t comm) {
    return nccl().reduce(x.raw(), x.raw(), count_of(x), datatype(x.dtype()), operation(op, x.dtype()), root, comm,
                         lane()->stream);
  });
  if (rank() == root) finish_float_mean(op, x);
}

void VendorCommunicator::finish_float_mean(ReduceOp op, Buffer x) {
  if (!is_integer(x.dtype())) finish_mean(*this, op, x);
}

std::unique_ptr<Communicator> VendorCommunicator::like_this(std::shared_ptr<NcclGroup> group,
                                                            std::vector<int> world_ranks) const {
  return std::make_unique<VendorCommunicator>(std::move(group), "a group split from " + name(), std::move(world_ranks),
                                              lane());
}

}  // namespace trigram::gpu
