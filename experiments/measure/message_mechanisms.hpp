// What else may limit messages between hosts, as places from which a search begins.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiments/measure/alpha_beta.hpp"
#include "experiments/measure/message_terms.hpp"

namespace trigram {

/// `terms` with one mechanism more each, or a handshake of another size: with guesses of what it takes, near one of
/// which the best is. `sizes`, ascending, are those that were measured.
std::vector<MessageTerms> with_one_more(const MessageTerms& terms, std::span<const TimedAmount> sizes);

/// The index of the first of `sizes` that is longer than the limit of announcements; their number if there is none.
std::size_t first_announced(const MessageTerms& terms, std::span<const TimedAmount> sizes);

/// The geometric mean of a size and the one before it.
double half_way_to(std::size_t first, std::span<const TimedAmount> sizes);

}  // namespace trigram
