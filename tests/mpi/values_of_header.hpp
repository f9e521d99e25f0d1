// Values of MPI by the header that an implementation comes with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace trigram::testing {

/// By name: an address, or a number.
std::map<std::string, std::intptr_t> values_of_header();

/// Where the fields of a status lie that have names: MPI_SOURCE, MPI_TAG, MPI_ERROR, and behind all of them.
std::map<std::string, std::size_t> status_of_header();

}  // namespace trigram::testing
