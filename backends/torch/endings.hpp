// Ranks tell of their ends at the place where they have met.
#pragma once

#include "backends/process/endings.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram::torch {

/// The meeting place outlives it.
class NotedEndings final : public Endings {
 public:
  explicit NotedEndings(Rendezvous& rendezvous) : rendezvous_(rendezvous) {}

  void tell(std::int64_t steps) noexcept override;

 private:
  std::optional<std::int64_t> steps_at_end(int rank) override;

  Rendezvous& rendezvous_;
};

}  // namespace trigram::torch
