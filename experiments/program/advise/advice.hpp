// What is advised of one method.
#pragma once

#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiments/fit/predictions/predictor.hpp"
#include "experiments/fit/uncertain_times.hpp"
#include "experiments/program/advise/methods.hpp"

namespace trigram {

/// A method that was simulated, or why it was not.
struct Advice {
  Method method;
  Predicted predicted;
  std::string refusal;
  UncertainTime range = {};  ///< of those that are told of

  /// As far off as the cluster's calibration says.
  WithErrorBar took() const {
    return {predicted.seconds, std::isnan(predicted.error) ? error_without_measurements : predicted.error};
  }
};

/// The probability that its step is shorter than today's: by draws where there are some, else by how far off the model
/// may be.
double chance_of_gain(const Advice& one, const Advice& today);

/// The line that brings a method into a script.
std::string script_of(const std::string& method);

/// What a page shows of it: name, seconds, of_95 (seconds) or null, gain, chance, bytes, kinds, risks and script.
nlohmann::json facts_of(const Advice& one, const Advice& today);

}  // namespace trigram
