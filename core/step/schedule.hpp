// How the learning rate goes on during a run.
#pragma once

#include <cstdint>

#include "core/registry/registry.hpp"

namespace trigram {

/// A function of the step alone, the same on every rank.
class Schedule {
 public:
  static constexpr const char* registry_kind = "schedule";
  virtual ~Schedule() = default;
  /// What the run's learning rate is multiplied by in `step`, from 0 to steps − 1.
  virtual double factor(std::int64_t step, std::int64_t steps) const = 0;
};

using Schedules = Registry<Schedule>;

}  // namespace trigram
