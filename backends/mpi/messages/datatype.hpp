// Our types and operations in MPI's words.
#pragma once

#include <cstdint>

#include "core/device/kernels.hpp"
#include "core/values/buffer.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// Whether MPI can reduce this buffer: it knows the type and can count the elements.
bool reducible(const Buffer& x);
/// MPI_FLOAT for f32, … Throws Error where MPI has no such type.
MPI_Datatype datatype(DType dtype);
/// Where its bytes lie; null where it has none.
void* address_of(const Buffer& x);
/// A mean is a sum first.
MPI_Op operation(ReduceOp op);

/// The most bytes of one call: MPI counts in int, so that a longer buffer goes in pieces.
constexpr std::int64_t piece_bytes = std::int64_t{1} << 30;

}  // namespace trigram::mpi
