// Where the ranks of a GPU job find each other: host bytes, before and beside NCCL.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "meeting/member.hpp"
#include "meeting/store.hpp"

namespace trigram {

/// Why a job ends early.
struct JobFailure {
  int rank = 0;        ///< whose failure it is
  std::string reason;  ///< for people
};

/// How long a call waits for other ranks, in seconds; 0: forever.
struct Patience {
  double seconds = 0;
};

/// One rank's end of the meeting place. Gathers and barriers are collective, in the same order on all ranks, from one
/// thread; they throw BackendError when a rank has failed or does not come in time, naming those that are missing.
class Rendezvous {
 public:
  using Parts = std::vector<Bytes>;
  virtual ~Rendezvous() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Everybody's bytes on every rank, in rank order.
  virtual Parts all_gather(const Bytes& own, Patience patience) = 0;
  /// Everybody's bytes on rank 0; nothing elsewhere.
  virtual Parts gather(const Bytes& own, Patience patience) = 0;
  void barrier(Patience patience) { all_gather({}, patience); }

  /// Tells all ranks that the job is over; the first failure counts.
  virtual void publish(const JobFailure& failure) noexcept = 0;
  /// The job's failure, from whichever rank; any thread may ask, at no cost.
  virtual std::optional<JobFailure> failure() = 0;
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
