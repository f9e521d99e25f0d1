#include "tests/mpi/values_of_header.hpp"

#include <mpi.h>

namespace trigram::testing {
namespace {

template <class Handle>
std::intptr_t number(Handle* handle) {
  return reinterpret_cast<std::intptr_t>(handle);
}
std::intptr_t number(int value) { return value; }

}  // namespace

std::map<std::string, std::intptr_t> values_of_header() {
#define NAMED(name) \
  { #name, number(name) }
  return {NAMED(MPI_COMM_NULL),
          NAMED(MPI_COMM_WORLD),
          NAMED(MPI_BYTE),
          NAMED(MPI_FLOAT),
          NAMED(MPI_INT),
          NAMED(MPI_UINT8_T),
          NAMED(MPI_INT32_T),
          NAMED(MPI_INT64_T),
          NAMED(MPI_ERRORS_RETURN),
          NAMED(MPI_GROUP_NULL),
          NAMED(MPI_INFO_NULL),
          NAMED(MPI_MAX),
          NAMED(MPI_MIN),
          NAMED(MPI_SUM),
          NAMED(MPI_REQUEST_NULL),
          NAMED(MPI_COMM_TYPE_SHARED),
          NAMED(MPI_ERR_IN_STATUS),
          NAMED(MPI_ERR_PENDING),
          NAMED(MPI_THREAD_FUNNELED),
          NAMED(MPI_THREAD_MULTIPLE),
          NAMED(MPI_SUCCESS),
          NAMED(MPI_ERR_TRUNCATE),
          NAMED(MPI_ANY_SOURCE),
          NAMED(MPI_THREAD_SINGLE),
          NAMED(MPI_STATUSES_IGNORE),
          NAMED(MPI_STATUS_IGNORE),
          NAMED(MPI_IN_PLACE)};
#undef NAMED
}

std::map<std::string, std::size_t> status_of_header() {
  return {{"MPI_SOURCE", offsetof(MPI_Status, MPI_SOURCE)},
          {"MPI_TAG", offsetof(MPI_Status, MPI_TAG)},
          {"MPI_ERROR", offsetof(MPI_Status, MPI_ERROR)},
          {"behind", sizeof(MPI_Status)}};
}

}  // namespace trigram::testing
