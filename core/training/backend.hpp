// The interface of a backend: starts ranks, and gives each a RankRuntime.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lane/worker.hpp"
#include "core/registry/registry.hpp"
#include "core/values/error.hpp"
#include "core/world/world.hpp"

namespace trigram {

/// What one rank runs. It returns bytes, since ranks may be other processes.
using RankBody = std::function<std::vector<std::byte>(RankRuntime&)>;

/// Results of a run.
struct Outcome {
  std::vector<std::vector<std::byte>> results;  ///< by rank
  double seconds = 0;                           ///< when the last rank ended, on the backend's clock
  std::string facts = "null";  ///< a JSON text: what only the backend knows, as fidelity, busiest NIC, versions
};

/// Serialize and deserialize, since a backend may run ranks in other processes.
std::vector<std::byte> pack(Outcome outcome);
Outcome unpack_outcome(std::span<const std::byte> bytes);

/// A rank in a process or thread that the backend did not start. It ends by leave() or fail(); destroying this object
/// first counts as a failure. May be used from several threads, one at a time.
class EnteredRank {
 public:
  EnteredRank() = default;
  virtual ~EnteredRank() = default;
  EnteredRank(const EnteredRank&) = delete;
  EnteredRank& operator=(const EnteredRank&) = delete;

  virtual RankRuntime& runtime() = 0;
  /// On a GPU: from now on what the caller enqueues on this stream (a cudaStream_t of the current device) between turns
  /// of the runtime, and what the runtime enqueues within them, run one after the other. Without it the caller
  /// synchronizes.
  virtual void follow(void* /*stream*/) {}
  /// On a GPU the stream of a lane, for what a hook or a task enqueues there by itself: a cudaStream_t, which is a
  /// lane's own. Null where lanes are threads.
  virtual void* stream_of(int /*lane*/) { return nullptr; }
  /// The caller, all of whose ranks take as many steps, has begun so many: a wait for a rank that told an earlier end
  /// is in vain, and fails with that as its reason, where a backend can tell.
  virtual void begin_step(std::int64_t /*begun*/) {}
  /// The caller takes no further step: before whatever else it does until it leaves.
  virtual void tell_end(std::int64_t /*steps*/) {}
  /// Throws BackendError once others go on without this rank, or it without one of them, in a process that is a rank
  /// again later: what was ordered may have been cut off anywhere. After a wait, what was waited for is whole.
  virtual void require_whole() {}
  /// What ends all waits of this rank, for that reason, as `require_whole` has it; from any thread, also when the rank
  /// has gone. Empty where the process ends with its rank, or others end its waits.
  virtual std::function<void(const std::string&)> way_out() { return {}; }
  /// Ends successfully: gathers the result bytes of all ranks on every rank. Collective, once; runtime() must not be
  /// used afterwards.
  virtual Outcome leave(const std::vector<std::byte>& result) = 0;
  /// Ends with an error: ranks that wait for this one learn of it.
  virtual void fail(std::exception_ptr error) noexcept = 0;
};

/// Runs `body` as that rank, and leaves; where it throws, the rank fails, and the error is rethrown.
Outcome run_entered(EnteredRank& rank, const RankBody& body);

/// A way to run ranks: as processes, threads, or simulated. A cluster, a fidelity, a timeout are its parameters.
class Backend {
 public:
  static constexpr const char* registry_kind = "backend";
  virtual ~Backend() = default;

  /// The node of each rank, in rank order and without gaps: what hierarchy and costs are derived from before any
  /// rank starts. Throws UsageError when the ranks do not fit.
  virtual std::vector<int> nodes(int ranks) const = 0;

  /// Ranks of a run that names no number.
  virtual int default_ranks() const = 0;

  /// The spec of all-reduce `asked` on this backend, completed with the cluster's links where a library chooses by
  /// them. Throws UsageError for the choice of a library that this backend does not have.
  virtual std::string all_reduce_here(const std::string& asked) const;

  /// Why a hierarchy cannot exchange inside nodes and between nodes at the same time; empty where it can.
  virtual std::string refuses_network_lanes() const { return {}; }
  /// Throws UsageError where `world` has chunks of a hierarchy, and there is no hierarchy, or this backend refuses
  /// network lanes.
  void require_chunks(const World& world, Hierarchy hierarchy) const;

  /// Runs `body` on every rank and returns what each returned. May be called again. The first failing rank's error is
  /// rethrown with its type and text; nothing hangs.
  virtual Outcome run(const World& world, const RankBody& body) = 0;

  /// Why no rank can enter, and what to use instead; empty where ranks can.
  virtual std::string refuses_entering() const {
    return "this backend starts its ranks itself; give `run` what they do, or use backend mpi";
  }
  /// Sets the CUDA device on which the next caller of `enter` holds its tensors; nullopt: in host memory. Overrides the
  /// thread's current device. Throws UsageError where ranks of this backend work on other memory.
  virtual void use_device(std::optional<int> device);
  /// Makes this process, or thread, a rank. Collective: returns when all ranks have entered. Throws
  /// UsageError with the reason where none can.
  virtual std::unique_ptr<EnteredRank> enter(const World& /*world*/) { throw UsageError(refuses_entering()); }

  /// Whether the clock is simulated.
  virtual bool simulated() const = 0;

  /// Why its ranks have no RPC (core/lane/service.hpp); empty where they have.
  virtual std::string refuses_asking() const { return {}; }

  /// True where the processes that a launcher started are the ranks; else one process runs them all.
  virtual bool spans_processes() const { return false; }

  /// The rank that this process is, of a job that spans processes; else 0. Rank 0 prints and writes.
  virtual int process_rank() const { return 0; }
};

using Backends = Registry<Backend>;

}  // namespace trigram
