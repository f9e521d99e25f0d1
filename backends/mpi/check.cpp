#include "backends/mpi/check.hpp"

#include <array>

#include "core/values/error.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

void check(int code, const std::string& operation) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw BackendError(operation + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace trigram::mpi
