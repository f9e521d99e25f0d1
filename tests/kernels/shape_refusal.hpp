// How an operation answers shapes that it cannot have.
#pragma once

#include <string>

#include "core/step/operation.hpp"
#include "core/values/error.hpp"

namespace trigram {

/// The text with which shapes are refused, before there is any memory; "taken" where they are not.
inline std::string refusal(const std::string& spec, const TensorShapes& shapes) {
  try {
    const AppliedOperation applied(spec, shapes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace trigram
