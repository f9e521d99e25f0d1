// Two trainings that must agree to the last bit.
#pragma once

#include "core/trainer.hpp"

namespace trigram::testing {

/// Expects the same losses, bytes sent and final weights on every rank; weights must have been kept.
void expect_same_bits(const Training& a, const Training& b);

}  // namespace trigram::testing
