// Least squares by NLopt.
#include "experiments/measure/search.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <nlopt.hpp>
#include <stdexcept>

namespace trigram {
namespace {

/// The sum of squares, and the best place that it was asked for.
class Objective {
 public:
  Objective(const Residuals& residuals, const Place& start) : residuals_(residuals), start_(start) {}

  double at(const Place& place) {
    // So little that it decides only where measurements do not.
    constexpr double pull = 1e-6;
    double sum = 0;
    for (const double residual : residuals_(place)) sum += residual * residual;
    for (std::size_t i = 0; i < place.size(); ++i) sum += pull * std::pow(place[i] - start_[i], 2);
    if (sum < least_) {
      least_ = sum;
      best_ = place;
    }
    return sum;
  }
  const Place& best() const { return best_; }

  /// For NLopt, which forgets what was thrown: the search stops, as if it had ended well with some algorithms, and
  /// `rethrow` tells why.
  double at_or_stop(const Place& place) {
    try {
      return at(place);
    } catch (...) {
      thrown_ = std::current_exception();
      throw nlopt::forced_stop();
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const Residuals& residuals_;
  const Place& start_;
  double least_ = std::numeric_limits<double>::infinity();
  Place best_;
  std::exception_ptr thrown_;
};

void optimize(nlopt::opt search, Objective& objective, Place place) {
  search.set_lower_bounds(0.0);
  search.set_upper_bounds(1.0);
  search.set_min_objective(
      [](const Place& at, Place&, void* data) { return static_cast<Objective*>(data)->at_or_stop(at); }, &objective);
  double least = 0;
  try {
    search.optimize(place, least);
  } catch (const std::runtime_error&) {
    // No better place can be told apart, and the objective has kept the best.
  }
  objective.rethrow();
}

void optimize_nearby(Objective& objective, const Place& from, double step) {
  constexpr double precision = 1e-5;
  constexpr int most_of_each = 80;
  const auto parameters = static_cast<unsigned>(from.size());
  nlopt::opt search(nlopt::LN_BOBYQA, parameters);
  search.set_xtol_abs(precision);
  search.set_initial_step(step);
  search.set_maxeval(most_of_each * static_cast<int>(parameters));
  optimize(search, objective, from);
}

}  // namespace

Place search_everywhere(const Residuals& residuals, const Place& start) {
  constexpr int most_of_each = 100;
  constexpr double step = 0.1;
  Objective objective(residuals, start);
  objective.at(start);
  const auto parameters = static_cast<unsigned>(start.size());
  nlopt::opt everywhere(nlopt::GN_DIRECT_L, parameters);
  everywhere.set_maxeval(most_of_each * static_cast<int>(parameters));
  optimize(everywhere, objective, start);
  optimize_nearby(objective, Place(objective.best()), step);
  return objective.best();
}

Place search_nearby(const Residuals& residuals, const Place& from, const Place& start) {
  constexpr double step = 0.05;
  Objective objective(residuals, start);
  optimize_nearby(objective, from, step);
  return objective.best();
}

}  // namespace trigram
