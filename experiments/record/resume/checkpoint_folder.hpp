// Checkpoints in a folder: a file of each rank's state, and a manifest that names them.
//   checkpoint-STEPS.rank-RANK.CRC   what that rank holds after so many steps; the name has the CRC-32 of its content
//   checkpoint-STEPS.json            the manifest: settings of the run, and length and CRC-32 of each file and of
//   itself
// Every file is written beside, synced and renamed, the manifest last: a checkpoint is there when its manifest is. The
// last two are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/training/handover.hpp"
#include "core/world/configuration.hpp"

namespace trigram {

/// Where a run leaves checkpoints. Ranks that are processes each have one, of the same folder.
class CheckpointFolder {
 public:
  /// `configuration` is what whoever goes on must have alike.
  CheckpointFolder(std::filesystem::path path, Configuration configuration)
      : path_(std::move(path)), configuration_(std::move(configuration)) {}

  /// Writes one rank's state; what it returns is for `keep`. Throws UsageError.
  std::vector<std::byte> write(std::int64_t steps, int rank, const std::vector<std::byte>& state) const;
  /// Writes the manifest of what all ranks have written, and removes all but this checkpoint and the one before it.
  /// Throws UsageError.
  void keep(std::int64_t steps, const std::vector<std::vector<std::byte>>& written) const;

 private:
  std::filesystem::path path_;
  Configuration configuration_;
};

/// The steps of the last checkpoint in a folder, whole or not; 0 where there is none.
std::int64_t last_checkpoint(const std::filesystem::path& path);

/// Throws UsageError where `path` holds checkpoints, unless they are what `resume` goes on from.
void require_no_other_checkpoints(const std::filesystem::path& path, const std::filesystem::path& resume);

/// A checkpoint that was found whole.
class FoundCheckpoint {
 public:
  /// The last one of a folder, or that of a manifest. Throws UsageError naming what is missing or damaged, and a whole
  /// one before it if there is any; then each setting in which this run differs from the one that wrote it. It may
  /// have other steps (allow_other_steps), and other ranks, which are handed over to (Handover): `training` says how
  /// many of so many ranks train.
  FoundCheckpoint(const std::filesystem::path& path, const Configuration& configuration, int ranks,
                  const std::function<int(int ranks)>& training);

  std::int64_t steps() const;
  FoundCheckpoint(const FoundCheckpoint&) = delete;
  FoundCheckpoint& operator=(const FoundCheckpoint&) = delete;

  /// What this rank goes on from. Throws UsageError where it was damaged since.
  std::vector<std::byte> state(int rank) const;

 private:
  std::vector<std::byte> written(int rank) const;

  std::filesystem::path manifest_;
  nlohmann::json content_;
  std::optional<Handover> handover_;  ///< where it is of another number of ranks
};

}  // namespace trigram
