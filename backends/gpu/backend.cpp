// The backend 'gpu': one process and one GPU a rank.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "backends/gpu/devices.hpp"
#include "backends/gpu/epoch/entered_epoch.hpp"
#include "backends/gpu/host/job_membership.hpp"
#include "backends/gpu/runtime.hpp"
#include "backends/process/entered_process.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/world/nodes_of_ranks.hpp"
#include "meeting/local_ranks.hpp"
#include "meeting/store/epoch_meeting.hpp"

namespace trigram::gpu {
namespace {

RankProcess* the_launched_process = nullptr;
pid_t its_id = 0;

void finish_launched_process(int status, void*) {
  if (status == 0 && getpid() == its_id) the_launched_process->finish();
}

/// This process as a rank of a launched job, made at the first run or when it first enters.
RankProcess& launched_process(JobMembership& session, double timeout, Calls calls,
                              std::optional<int> device = std::nullopt) {
  if (the_launched_process != nullptr) {
    require(!device || *device == the_launched_process->device(), "this process has entered with GPU ",
            the_launched_process->device(), ", and is to enter with GPU ", device.value_or(0),
            " now; it can have one only, so go back to the first");
    return *the_launched_process;
  }
  const auto report = [](const std::string& reason) { write_line("trigram: " + reason); };
  the_launched_process = new RankProcess(session.rendezvous(), session.locations(), timeout, report, calls, device);
  its_id = getpid();
  // Registered after CUDA and NCCL were loaded, and so called before they are torn down.
  on_exit(finish_launched_process, nullptr);
  return *the_launched_process;
}

class GpuBackend final : public Backend {
 public:
  explicit GpuBackend(Params& params)
      : ranks_per_node_(params.get("ranks_per_node", 0, "ranks of a node; 0: those of one machine")),
        collectives_(params.get("collectives", "own", "own: bit-identical to the simulator; vendor: NCCL's")),
        timeout_(
            params.get("timeout", "300s", Unit::seconds,
                       "how long ranks may take to meet, and an exchange to end, before the job ends; 0: forever")),
        calls_(
            params.get("blocking", false,
                       "whether calls of NCCL end when they are done: less of the host's time, but only the watchdog "
                       "ends what hangs in them")
                ? Calls::block
                : Calls::ask),
        rendezvous_(params.get("rendezvous", "",
                               "where the ranks of a launched job meet: file:PATH, tcp:HOST:PORT or mpi; empty: where "
                               "the launcher says")) {
    require(ranks_per_node_ >= 0,
            params.owner() + ": ranks_per_node=" + std::to_string(ranks_per_node_) + " is less than 0");
    require(
        !seat_ || calls_ == Calls::ask, params.owner(),
        ": with blocking=on only the watchdog's abort ends what hangs in NCCL, which may not interrupt such a call; "
        "members that come and go leave it out");
    require(collectives_ == "own" || collectives_ == "vendor",
            params.owner() + ": collectives=" + shown(collectives_) + " is neither own nor vendor");
  }

  int default_ranks() const override { return member_ ? member_->ranks : device_count(); }

  std::vector<int> nodes(int ranks) const override {
    refuse_settings_that_deadlock();
    if (!member_) device_count();
    require(!member_ || ranks == member_->ranks,
            "the run asks for " + std::to_string(ranks) + " ranks, but " + (member_ ? member_->launcher : "") +
                " started " + std::to_string(member_ ? member_->ranks : 0) + "; ask for as many, or start as many");
    if (ranks_per_node_ == 0 && member_) return number_hosts(seat_ ? epoch().locations : session().locations());
    if (ranks_per_node_ == 0) require_some(ranks);
    return nodes_of_ranks(ranks, ranks_per_node_);
  }

  std::string all_reduce_here(const std::string& asked) const override {
    const bool nccl = all_reduce_named(asked).library() == "NCCL";
    require(!nccl || collectives_ == "vendor", "all-reduce ", Quoted(asked),
            " is NCCL's own, which backend gpu uses with collectives=vendor only; give --backend "
            "gpu:collectives=vendor, or --all-reduce ring");
    return nccl ? asked : Backend::all_reduce_here(asked);
  }

  bool simulated() const override { return false; }
  std::string refuses_network_lanes() const override {
    return "backend 'gpu' enqueues a lane's task on one stream, whose phases follow each other; leave "
           "--hierarchy-chunks "
           "out, and take --lanes 2, where phases of two buckets run beside each other";
  }
  std::string refuses_asking() const override {
    return "backend 'gpu' cannot, since NCCL sends only what its receiver expects; use backend mpi or sim";
  }
  bool spans_processes() const override { return member_.has_value(); }
  int process_rank() const override { return member_ ? member_->rank : 0; }

  std::string refuses_entering() const override {
    if (member_) return {};
    return "backend 'gpu' starts its ranks itself where no launcher has, so that none can enter: start the processes "
           "with torchrun, mpirun or srun";
  }

  void use_device(std::optional<int> device) override {
    require(member_.has_value(), refuses_entering());
    require(device.has_value(),
            "the memory to work on is the host's, and backend 'gpu' works on that of CUDA devices; move models and "
            "tensors there, as by model.cuda(), or take backend mpi or torch");
    device_ = device;
  }

  /// On the device that it was told of, else the current one: a process that has called CUDA must not fork to count
  /// devices.
  std::unique_ptr<EnteredRank> enter(const World& world) override {
    require(member_.has_value(), refuses_entering());
    const std::vector<int> node_of_rank = nodes(world.ranks);
    const int device = device_ ? *device_ : current_device();
    if (seat_) {
      return std::make_unique<EnteredEpoch>(std::move(epoch()), device, timeout_, [&](RankProcess& process) {
        return rank_of(process, world, node_of_rank, Loop::callers);
      });
    }
    return rank_of(launched_process(session(), timeout_, calls_, device), world, node_of_rank, Loop::callers);
  }

  Outcome run(const World& world, const RankBody& body) override {
    const std::vector<int> node_of_rank = nodes(world.ranks);
    if (!member_) return run_local(world, body, node_of_rank);
    RankProcess& process = launched_process(session(), timeout_, calls_);
    return run_entered(*rank_of(process, world, node_of_rank, Loop::ours), body);
  }

 private:
  static void require_some(int ranks) {
    require(ranks >= 1, std::to_string(ranks) + " ranks cannot run; ask for 1 or more");
  }

  /// The ranks of the epoch in which this process has a seat, who meet at the first call.
  MetRanks& epoch() const {
    if (!epoch_) epoch_ = introduced(seat_->meet(), {timeout_});
    return *epoch_;
  }

  JobMembership& session() const { return JobMembership::join(*member_, rendezvous_, {timeout_}); }

  /// `tell` hears of an error before the other ranks do.
  std::unique_ptr<EnteredRank> rank_of(
      RankProcess& process, const World& world, const std::vector<int>& node_of_rank, Loop loop,
      Tell tell = [](const CarriedError&) {}) const {
    const RuntimeOptions options{collectives_ == "vendor", timeout_, node_of_rank, std::move(tell)};
    auto runtime = std::make_unique<GpuRuntime>(process, world, options);
    return std::make_unique<EnteredProcess>(std::move(runtime), facts_of(process, node_of_rank), loop);
  }

  /// What the report says of this run.
  std::string facts_of(const RankProcess& process, const std::vector<int>& node_of_rank) const {
    nlohmann::json facts = process.facts();
    facts["nodes"] = 1 + *std::ranges::max_element(node_of_rank);
    facts["collectives"] = collectives_;
    facts["launcher"] = member_ ? member_->launcher : "none";
    return facts.dump();
  }

  Outcome run_local(const World& world, const RankBody& body, const std::vector<int>& node_of_rank) const {
    const std::vector<Bytes> results = run_local_ranks(world.ranks, [&](const LocalRank& self) {
      const auto rendezvous = meet(self.member.rendezvous, self.member, {timeout_});
      const std::vector<RankLocation> locations(static_cast<std::size_t>(world.ranks), RankLocation::here());
      RankProcess process(
          *rendezvous, locations, timeout_,
          [&](const std::string& reason) {
            self.report(CarriedError::of(std::make_exception_ptr(BackendError(reason))));
          },
          calls_);
      Outcome outcome = run_entered(*rank_of(process, world, node_of_rank, Loop::ours, self.report), body);
      const Bytes packed = self.member.rank == 0 ? pack(std::move(outcome)) : Bytes();
      process.finish();
      rendezvous->leave();
      return packed;
    });
    return unpack_outcome(results.front());
  }

  int ranks_per_node_;
  std::string collectives_;
  double timeout_;
  Calls calls_;
  std::string rendezvous_;
  std::optional<int> device_;                      ///< of whoever enters
  std::unique_ptr<EpochSeat> seat_ = take_seat();  ///< or none
  mutable std::optional<MetRanks> epoch_;
  std::optional<Member> member_ = seat_ ? std::optional(seat_->member()) : member_of(launcher_environment());
};

const Backends::Registration registration("gpu", {"NVIDIA GPUs: one process and one GPU a rank, by NCCL"},
                                          [](Params& params) { return std::make_unique<GpuBackend>(params); });

const BackendTraits::Registration traits(
    "gpu", {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"},
                      {"rendezvous", "rendezvous", "where launched ranks meet: file:PATH, tcp:HOST:PORT or mpi",
                       /*of_one_process=*/true}},
            .own_messages = {{"collectives", "own", /*same_bits=*/false}}});

}  // namespace
}  // namespace trigram::gpu
