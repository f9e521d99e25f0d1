// Our types and operations in MPI's words.
#pragma once

#include <mpi.h>

#include "core/buffer.hpp"
#include "core/kernels.hpp"

namespace trigram::mpi {

/// Whether MPI can reduce this buffer: it knows the type and can count the elements.
bool reducible(const Buffer& x);
/// MPI_FLOAT for f32, … Throws Error where MPI has no such type.
MPI_Datatype datatype(DType dtype);
/// Where its bytes lie; null where it has none.
void* address_of(const Buffer& x);
/// A mean is a sum first.
MPI_Op operation(ReduceOp op);

}  // namespace trigram::mpi
