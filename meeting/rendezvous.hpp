// Where the ranks of a GPU job find each other: host bytes, before and beside NCCL.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/registry/registry.hpp"
#include "meeting/member.hpp"
#include "meeting/store/store.hpp"
#include "processes/host_group.hpp"

namespace trigram {

/// Why a job ends early.
struct JobFailure {
  int rank = 0;        ///< whose failure it is
  std::string reason;  ///< for people
};

/// One rank's end of the meeting place, which also spreads the news of a failure.
class Rendezvous : public HostGroup {
 public:
  /// Tells all ranks that the job is over; the first failure counts.
  virtual void publish(const JobFailure& failure) noexcept = 0;
  /// The job's failure, from whichever rank; any thread may ask, at no cost.
  virtual std::optional<JobFailure> failure() = 0;
  /// Leaves a text for all ranks under that name, where the place keeps texts; any thread may. Throws BackendError
  /// where the place is gone.
  virtual void note(const std::string& /*name*/, const std::string& /*text*/) {}
  /// What some rank has left there by now. Throws as `note`.
  virtual std::optional<std::string> noted(const std::string& /*name*/) { return std::nullopt; }
  /// The last call: after success everybody says goodbye and nothing is left behind; after a failure others get a
  /// moment to learn why.
  virtual void leave() noexcept = 0;
  /// "file:/shared/job", "tcp:node0:29501", "mpi".
  virtual std::string place() const = 0;
};

/// A way to meet: "file", "tcp" or "mpi".
class WayToMeet {
 public:
  static constexpr const char* registry_kind = "rendezvous";
  virtual ~WayToMeet() = default;
  /// Meets all ranks at `where`, what follows the name and a colon ("/shared/job", "node0:29501"), or gives up after
  /// `patience`. Throws UsageError where the processes cannot be of one job.
  virtual std::unique_ptr<Rendezvous> open(const std::string& where, const Member& member, Patience patience) const = 0;
};

using WaysToMeet = Registry<WayToMeet>;

/// Meets at "file:PATH", "tcp:HOST:PORT" or "mpi". Throws UsageError for what this build does not know.
std::unique_ptr<Rendezvous> meet(const std::string& place, const Member& member, Patience patience);

}  // namespace trigram
