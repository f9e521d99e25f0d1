// Ranks tell all others of their ends by short messages.
#pragma once

#include "backends/process/endings.hpp"

namespace trigram::mpi {

/// Messages leave at once, whether somebody takes them or not, so that nobody waits for who has ended.
class ToldEndings final : public Endings {
 public:
  /// Collective, as all of the run: runs are told apart by the order in which they begin. `timeout` as for
  /// duplicate_of_world.
  explicit ToldEndings(double timeout);
  ~ToldEndings() override;
  ToldEndings(const ToldEndings&) = delete;
  ToldEndings& operator=(const ToldEndings&) = delete;

  void tell(std::int64_t steps) noexcept override;

 private:
  std::optional<std::int64_t> steps_at_end(int rank) override;

  std::int64_t run_;
};

}  // namespace trigram::mpi
