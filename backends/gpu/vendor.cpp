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

bool VendorCommunicator::performs(const CollectiveCall& call) {
  switch (call.collective) {
    case Collective::all_reduce:
      return true;
    case Collective::reduce_scatter:
      return has_equal_parts(call.x, size());
    case Collective::all_gather:
      return call.parts.empty() && has_equal_parts(call.x, size());
    case Collective::broadcast:
    case Collective::reduce:
      return call.root >= 0 && call.root < size() && call.x.count() > 0;
    default:
      return false;
  }
}

void VendorCommunicator::perform(const CollectiveCall& call) {
  if (!performs(call)) return Communicator::perform(call);
  require_data(call.x, "gpu");
  if (call.x.count() == 0) return;
  const Buffer own = call.x.chunk(rank(), size());
  order(name_of(call.collective), call.x.bytes(), [&](ncclComm_t comm) { return order_on(comm, call, own); });
  if (call.op != ReduceOp::mean || is_integer(call.x.dtype())) return;
  if (call.collective == Collective::all_reduce) finish_mean(*this, call.op, call.x);
  if (call.collective == Collective::reduce_scatter) finish_mean(*this, call.op, own);
  if (call.collective == Collective::reduce && rank() == call.root) finish_mean(*this, call.op, call.x);
}

ncclResult_t VendorCommunicator::order_on(ncclComm_t comm, const CollectiveCall& call, Buffer own) const {
  const ncclDataType_t type = datatype(call.x.dtype());
  const ncclRedOp_t op = operation(call.op, call.x.dtype());
  void* const x = call.x.raw();
  const cudaStream_t stream = lane()->stream;
  switch (call.collective) {
    case Collective::all_reduce:
      return nccl().all_reduce(x, x, count_of(call.x), type, op, comm, stream);
    case Collective::reduce_scatter:
      return nccl().reduce_scatter(x, own.raw(), count_of(own), type, op, comm, stream);
    case Collective::all_gather:
      return nccl().all_gather(own.raw(), x, count_of(own), type, comm, stream);
    case Collective::broadcast:
      return nccl().broadcast(x, x, static_cast<std::size_t>(call.x.bytes()), ncclUint8, call.root, comm, stream);
    case Collective::reduce:
      return nccl().reduce(x, x, count_of(call.x), type, op, call.root, comm, stream);
    default:
      throw Error(std::string("NCCL performs no ") + name_of(call.collective));
  }
}

std::unique_ptr<Communicator> VendorCommunicator::like_this(std::shared_ptr<NcclGroup> group,
                                                            std::vector<int> world_ranks) const {
  return std::make_unique<VendorCommunicator>(std::move(group), "a group split from " + name(), std::move(world_ranks),
                                              lane());
}

}  // namespace trigram::gpu
