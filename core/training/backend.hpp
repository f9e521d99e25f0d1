// Where ranks begin.
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

/// What a rank's body returns is bytes, since ranks may be other processes.
using RankBody = std::function<std::vector<std::byte>(RankRuntime&)>;

/// What a run gave.
struct Outcome {
  std::vector<std::vector<std::byte>> results;  ///< by rank
  double seconds = 0;                           ///< when the last rank ended, on the backend's clock
  std::string facts = "null";  ///< a JSON text: what only the backend knows, as fidelity, busiest NIC, versions
};

/// As bytes and back, since a backend may run ranks in other processes.
std::vector<std::byte> pack(Outcome outcome);
Outcome unpack_outcome(std::span<const std::byte> bytes);

/// A rank that has entered a world from where it was: a process, or a thread, that the backend did not start. It stays
/// until it leaves, fails, or this is gone, which others take for a failure. From several threads in turn.
class EnteredRank {
 public:
  EnteredRank() = default;
  virtual ~EnteredRank() = default;
  EnteredRank(const EnteredRank&) = delete;
  EnteredRank& operator=(const EnteredRank&) = delete;

  virtual RankRuntime& runtime() = 0;
  /// On a GPU: from now on what the caller orders on this stream (a cudaStream_t of the current device) between turns
  /// of the runtime, and what the runtime orders within them, follow each other. Without it the caller synchronizes.
  virtual void follow(void* /*stream*/) {}
  /// Ends well: hands in what this rank brings home, and returns what all do. Collective, once; the runtime is of no
  /// use afterwards.
  virtual Outcome leave(const std::vector<std::byte>& result) = 0;
  /// Ends with an error: ranks that wait for this one learn of it.
  virtual void fail(std::exception_ptr error) noexcept = 0;
};

/// Runs `body` as that rank, and leaves; where it throws, the rank fails, and the error is rethrown.
Outcome run_entered(EnteredRank& rank, const RankBody& body);

/// A place where ranks run. Its parameters (a cluster, a fidelity, a timeout) are its product parameters.
class Backend {
 public:
  static constexpr const char* registry_kind = "backend";
  virtual ~Backend() = default;

  /// The node of each rank, in rank order and without gaps: what hierarchy and costs are derived from before any
  /// rank starts. Throws UsageError when the ranks do not fit.
  virtual std::vector<int> nodes(int ranks) const = 0;

  /// How many ranks this place has when nobody says.
  virtual int default_ranks() const = 0;

  /// An all-reduce as this place has it: its spec, with what a library's choice must know of the place. Throws
  /// UsageError for the choice of a library that it does not have.
  virtual std::string all_reduce_here(const std::string& asked) const;

  /// Why phases of a hierarchy inside nodes and between them cannot run beside each other; empty where they can.
  virtual std::string refuses_network_lanes() const { return {}; }
  /// Throws UsageError where `world` has chunks of a hierarchy, and there is none, or this place refuses network lanes.
  void require_chunks(const World& world, Hierarchy hierarchy) const;

  /// Runs `body` on every rank and returns what each returned. May be called again. The first failing rank's error is
  /// rethrown with its type and text; nothing hangs.
  virtual Outcome run(const World& world, const RankBody& body) = 0;

  /// Why no rank can enter, and what to use instead; empty where ranks can.
  virtual std::string refuses_entering() const {
    return "this backend starts its ranks itself; give `run` what they do, or use backend mpi";
  }
  /// Where the memory lies that who enters next brings along: on a CUDA device, by its number, or with none on the
  /// host. `enter` takes that device, whatever the thread's current one is. Throws UsageError where this backend's
  /// ranks work on other memory, as those of processors do.
  virtual void use_device(std::optional<int> device);
  /// This process, or thread, becomes a rank from where it is. Collective: returns when all ranks have entered. Throws
  /// UsageError with the reason where none can.
  virtual std::unique_ptr<EnteredRank> enter(const World& /*world*/) { throw UsageError(refuses_entering()); }

  /// True where time is a model's.
  virtual bool simulated() const = 0;

  /// Why its ranks cannot ask each other by RPC (core/lane/service.hpp); empty where they can.
  virtual std::string refuses_asking() const { return {}; }

  /// True where the processes that a launcher started are the ranks; else one process runs them all.
  virtual bool spans_processes() const { return false; }

  /// The rank that this process is, of a job that spans processes; else 0. Rank 0 prints and writes.
  virtual int process_rank() const { return 0; }
};

using Backends = Registry<Backend>;

}  // namespace trigram
