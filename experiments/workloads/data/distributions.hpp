// Random numbers that are not uniform, from keyed streams.
#pragma once

#include <cstdint>

#include "core/values/random.hpp"

namespace trigram {

/// Standard normal number `index` of a stream (Box and Muller); takes words 2·index and 2·index + 1.
double normal(const Philox& stream, std::uint64_t index);

/// ln of a Gamma(shape, 1) number, which stays finite where the number itself underflows; it uses the whole stream
/// (Marsaglia & Tsang, A simple method for generating gamma variables, ACM TOMS 2000). `shape` is positive.
double log_gamma_variate(const Philox& stream, double shape);

}  // namespace trigram
