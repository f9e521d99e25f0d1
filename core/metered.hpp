// Counts what a communicator does, whoever it is.
#pragma once

#include <atomic>
#include <memory>

#include "core/communicator.hpp"
#include "core/cost.hpp"
#include "core/timeline.hpp"

namespace trigram {

/// Rounds and modelled bytes sent by one lane of one rank. One lane counts; any thread may read.
class Meter {
 public:
  void add(const Cost& cost);
  Cost total() const { return {rounds_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)}; }

 private:
  std::atomic<std::int64_t> rounds_{0};
  std::atomic<std::int64_t> bytes_{0};
};

/// Decorates any communicator: every exchange counts one round and its sent modelled bytes, and its time is
/// recorded as wire. A collective that the inner communicator performs itself adds its declared cost instead.
/// Messages to oneself and exchanges without any transfer are not counted.
std::unique_ptr<Communicator> metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline);

}  // namespace trigram
