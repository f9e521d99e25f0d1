// Least squares in the unit cube, by NLopt: what is fitted has no derivatives, and bends where a cap begins to matter.
#pragma once

#include <functional>
#include <vector>

namespace trigram {

/// A place in the unit cube: one number from 0 to 1 for each parameter.
using Place = std::vector<double>;

/// How far off the model is at a place, one number for each measurement.
using Residuals = std::function<std::vector<double>(const Place&)>;

/// Where the sum of squares is least: in the whole cube first (DIRECT-L), then around the best place so far or `start`
/// by quadratic models (BOBYQA). Both need no derivatives, keep to bounds, and give the same from the same. Of places
/// that fit alike, the one nearest to `start` is found.
Place search_everywhere(const Residuals& residuals, const Place& start);

/// The same around `from` alone. Of places that fit alike, the one nearest to `start` is found.
Place search_nearby(const Residuals& residuals, const Place& from, const Place& start);

}  // namespace trigram
