// What becomes of what ranks keep, where the ranks change.
#pragma once

#include <cstdint>
#include <string_view>

namespace trigram {

/// One word for an item of `list_state`: what the members of a new world go on from, of what those of the old one kept.
/// Means are over the old members whose state is there, and over those that hold such an item; what all of them hold
/// alike comes through bit for bit, whatever its fate.
enum class Fate : std::uint8_t {
  alike,     ///< the same on all ranks: anybody's
  own,       ///< stays with its rank; a newcomer begins with the mean, or with the first member's where it is no number
  averaged,  ///< all go on from the mean, as residuals: the mean of what ranks owe is what the mean model owes
  balanced,  ///< as own, and where members leave all move by as much, so that the mean over ranks stays where it was
  cut,       ///< parts of one whole, which is cut anew
  anew,      ///< as `setup` makes it from the mean model: what depends on who the others are, as replicas of them
  joint      ///< as balanced, and anew where a member was lost: what is right by its sum, of which a part is gone then
};

/// "alike", "own", "averaged", "balanced", "cut", "anew", "joint".
std::string_view name_of(Fate fate);

}  // namespace trigram
