// MPI's error codes as exceptions.
#pragma once

#include <string>

namespace trigram::mpi {

/// Throws BackendError with the operation and MPI's text unless `code` says success.
void check(int code, const std::string& operation);

}  // namespace trigram::mpi
