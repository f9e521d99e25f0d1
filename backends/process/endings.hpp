// Which ranks take no further step, so that who waits for one of them in a later step learns why nothing comes.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace trigram {

/// One rank's view, for one run. Where ranks may take steps of other numbers, as of asynchronous methods, nobody tells.
class Endings {
 public:
  virtual ~Endings() = default;
  /// This rank ends after so many steps.
  virtual void tell(std::int64_t steps) noexcept = 0;
  /// This rank has begun so many steps, the present one among them.
  void begin_step(std::int64_t begun) { begun_ = begun; }
  /// Why that rank sends nothing in this step, as a clause after its name; empty where nobody knows. Any thread may
  /// ask.
  std::string why_silent(int rank);

 private:
  /// After how many steps it has ended, if it has told.
  virtual std::optional<std::int64_t> steps_at_end(int rank) = 0;

  std::atomic<std::int64_t> begun_{0};
};

}  // namespace trigram
