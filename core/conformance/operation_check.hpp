// Holds an operation of models to what it declares, on the device of any backend, with its own trials.
//   forward    writes outputs and saved tensors whole, the same each time, in place too where it says so
//   gradients  are those of finite differences, written whole; one that is passed on is the output's
//   work       is declared for forward and for the gradient of each input
#pragma once

#include <string>
#include <vector>

#include "core/conformance/finding.hpp"
#include "core/training/backend.hpp"

namespace trigram {

/// What came of one trial.
struct TriedOperation {
  std::string inputs;  ///< their shapes: "[37, 7], [7]"
  double flops = 0;    ///< of forward
  double bytes = 0;    ///< that forward touches
  double error = 0;    ///< of gradients beside finite differences, as a share of their length; the largest
  std::vector<Violation> violations;
};

/// Throws UsageError for what no operation accepts.
std::vector<TriedOperation> try_operation(const std::string& spec, Device& device);
/// The same on rank 0 of so many.
std::vector<TriedOperation> try_operation(const std::string& spec, Backend& backend, int ranks = 1);

}  // namespace trigram
