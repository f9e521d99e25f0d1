// Values of MPI that the backend gives by itself: those of the header that Open MPI comes with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "processes/mpi_library.hpp"
#include "tests/mpi/values_of_header.hpp"

namespace trigram::mpi {
namespace {

template <class Type>
std::intptr_t number(Type value) {
  if constexpr (std::is_pointer_v<Type>) {
    return reinterpret_cast<std::intptr_t>(value);
  } else {
    return value;
  }
}

TEST(MpiLibrary, HasTheValuesOfItsHeader) {
  std::map<std::string, std::intptr_t> ours;
#define V(type, name, standard, open_mpi) ours[#name] = number(library().name);
  TRIGRAM_MPI_VALUES(V)
#undef V
#define C(name) ours[#name] = number(name);
  C(MPI_SUCCESS) C(MPI_ERR_TRUNCATE) C(MPI_ANY_SOURCE) C(MPI_THREAD_SINGLE);
  C(MPI_STATUSES_IGNORE) C(MPI_STATUS_IGNORE) C(MPI_IN_PLACE);
#undef C
  EXPECT_THAT(ours, ::testing::ContainerEq(::trigram::testing::values_of_header()));
}

TEST(MpiLibrary, HasStatusesThatBeginAsThoseOfItsHeader) {
  const std::map<std::string, std::size_t> ours{{"MPI_SOURCE", offsetof(MPI_Status, MPI_SOURCE)},
                                                {"MPI_TAG", offsetof(MPI_Status, MPI_TAG)},
                                                {"MPI_ERROR", offsetof(MPI_Status, MPI_ERROR)},
                                                {"behind", 24}};
  EXPECT_THAT(ours, ::testing::ContainerEq(::trigram::testing::status_of_header()));
}

}  // namespace
}  // namespace trigram::mpi
