// Tries an algorithm where ranks leave and join: what it keeps must be handed over as its fates say.
#pragma once

#include <cstdint>
#include <vector>

#include "core/conformance/finding.hpp"
#include "core/conformance/trial.hpp"

namespace trigram {

/// Trains with the ranks of `trial`, hands over to others, and trains with those: one leaves, one joins, half leave
/// while one joins, a whole node leaves, all but one leave and others join that one. Replicas and the mean of weights
/// are held to what either world promises, over all steps. A world that the method refuses is left out.
std::vector<Violation> wrong_memberships(const Trial& trial, std::int64_t steps);

}  // namespace trigram
