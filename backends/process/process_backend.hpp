// A backend whose ranks are the processes that a launcher started.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/process/entered_process.hpp"
#include "backends/process/transport.hpp"
#include "core/registry/params.hpp"

namespace trigram {

/// The rank of this process in its job, and the node of every rank.
struct PlaceInJob {
  int rank = 0;
  std::vector<int> node_of_rank;  ///< numbered from 0 without gaps

  int ranks() const { return static_cast<int>(node_of_rank.size()); }
};

/// Base of such backends. A derived class implements place(), connect(), how_to_start() and facts(). All have the
/// parameters `ranks_per_node` and `timeout` (seconds).
class ProcessBackend : public Backend {
 public:
  int default_ranks() const override { return place().ranks(); }
  std::vector<int> nodes(int ranks) const override;
  bool simulated() const override { return false; }
  bool spans_processes() const override { return true; }
  int process_rank() const override { return place().rank; }
  std::string refuses_entering() const override { return {}; }
  std::unique_ptr<EnteredRank> enter(const World& world) override { return rank_of(world, Loop::callers); }
  Outcome run(const World& world, const RankBody& body) override {
    return run_entered(*rank_of(world, Loop::ours), body);
  }

 protected:
  /// `nodes_by_default` describes the nodes where `ranks_per_node` is not given, for help: "those that share memory".
  ProcessBackend(Params& params, const std::string& nodes_by_default);

  /// Joins the job at the first call, which is collective.
  virtual const PlaceInJob& place() const = 0;
  /// A sentence on what started how many processes, and how to start `ranks` of them: "MPI started 2; start it with:
  /// …".
  virtual std::string how_to_start(int ranks) const = 0;
  /// Makes the transport of one run.
  virtual std::unique_ptr<Transport> connect() const = 0;
  /// As Outcome::facts.
  virtual std::string facts(const std::vector<int>& node_of_rank) const = 0;

  /// Seconds that ranks may take to join, and an exchange to end; 0: forever.
  double timeout() const { return timeout_; }

 private:
  std::unique_ptr<EnteredRank> rank_of(const World& world, Loop loop) const;

  int ranks_per_node_;
  double timeout_;
};

}  // namespace trigram
