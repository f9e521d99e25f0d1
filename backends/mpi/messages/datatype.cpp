#include "backends/mpi/messages/datatype.hpp"

#include <limits>
#include <string>

#include "core/values/error.hpp"

namespace trigram::mpi {

bool reducible(const Buffer& x) {
  return x.dtype() != DType::f16 && x.dtype() != DType::bf16 && x.count() <= std::numeric_limits<int>::max();
}

MPI_Datatype datatype(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return MPI_FLOAT;
    case DType::u8:
      return MPI_UINT8_T;
    case DType::i32:
      return MPI_INT32_T;
    case DType::i64:
      return MPI_INT64_T;
    default:
      throw Error("MPI cannot reduce " + std::string(name_of(dtype)));
  }
}

void* address_of(const Buffer& x) { return x.bytes() == 0 ? nullptr : x.raw(); }

MPI_Op operation(ReduceOp op) {
  switch (op) {
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    default:
      return MPI_SUM;
  }
}

}  // namespace trigram::mpi
