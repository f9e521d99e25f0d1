// What a run has done so far, kept where it can be found when the run ends early, whichever process it was in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/training/training.hpp"

namespace trigram {

/// What is there of a run that has ended early.
struct Remains {
  std::filesystem::path folder;  ///< of the files with the rows so far
  std::int64_t steps = 0;        ///< in them
  std::int64_t of = 0;           ///< that were asked for
  std::int64_t checkpoint = 0;   ///< steps of the last whole checkpoint; 0: there is none
};
using TellRemains = std::function<void(const Remains& remains)>;

/// The rows of a training that goes on. They lie in memory of the system that processes forked from this one share, so
/// that they outlive whoever wrote them.
class RowsSoFar {
 public:
  RowsSoFar();
  ~RowsSoFar();
  RowsSoFar(const RowsSoFar&) = delete;
  RowsSoFar& operator=(const RowsSoFar&) = delete;

  /// Asks for rows and evaluations. This outlives the training.
  void ask_for(TrainingOptions& options) const;
  /// The reports of those ranks that have left rows, as far as rows tell, with equal shards; nothing before the first
  /// one.
  Training training() const;

 private:
  void write(const RankReport& report) const;

  int memory_ = -1;
};

/// Writes the files of a run that has ended early, because of `reason`, with "stopped" in `run`, which is run.json as
/// far as it was known before ranks started. They come into `folder`, or, where a finished run lies there, which stays,
/// into "stopped" inside it. `global_batch` and `simulated` as for summarize. Returns which of them; empty where no
/// step was made. Throws UsageError.
std::filesystem::path write_stopped_run(const std::filesystem::path& folder, const Training& training,
                                        nlohmann::json run, std::int64_t steps, const std::string& reason,
                                        std::int64_t global_batch, bool simulated);

}  // namespace trigram
