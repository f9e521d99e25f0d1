// How few steps of a run say what all of them take.
#pragma once

#include <cstdint>
#include <filesystem>

namespace trigram {

/// So many first steps of a run, of how many, and the mean of their seconds.
struct FirstSteps {
  std::int64_t count = 0, of = 0;
  double seconds = 0;
};

/// The fewest first steps of rank 0 that take as long on the mean as all of them, and send as much, within 1 %: 1 of a
/// method whose steps are alike, a whole period of others. Of a run's folder with its steps.csv. Throws UsageError
/// where that cannot be read.
FirstSteps first_steps(const std::filesystem::path& run);

}  // namespace trigram
