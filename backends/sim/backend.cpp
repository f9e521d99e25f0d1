// The backend "sim": ranks as actors of SimGrid, every run in a process of its own.
#include "core/backend.hpp"

#include <xbt/log.h>

#include <simgrid/s4u.hpp>

#include "backends/sim/child.hpp"
#include "backends/sim/cluster.hpp"
#include "backends/sim/simulation.hpp"
#include "core/error.hpp"
#include "core/packing.hpp"

namespace trigram::sim {

namespace {

std::vector<std::byte> pack(const Outcome& outcome) {
  Packer packer;
  packer.put(outcome.seconds);
  packer.put_text(outcome.facts.dump());
  for (const auto& result : outcome.results) packer.put_all(std::span(result));
  return std::move(packer).bytes();
}

Outcome unpack(std::span<const std::byte> bytes, int ranks) {
  Unpacker unpacker(bytes);
  Outcome outcome;
  outcome.seconds = unpacker.take<double>();
  outcome.facts = nlohmann::json::parse(unpacker.take_text());
  for (int rank = 0; rank < ranks; ++rank) outcome.results.push_back(unpacker.take_all<std::byte>());
  return outcome;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr const char* contexts = "contexts/factory:thread";  // the only one whose exceptions the sanitizer understands
#else
constexpr const char* contexts = "contexts/factory:raw";
#endif

/// Beyond so many actors, guard pages of their stacks would exceed the kernel's number of memory maps.
constexpr std::int64_t guarded_actors = 25000;

/// Settings with which SimGrid is an exact alpha-beta network with max-min sharing.
void start_engine(std::int64_t actors) {
  xbt_log_control_set("root.thresh:critical");
  simgrid::s4u::Engine::set_config(contexts);
  new simgrid::s4u::Engine("trigram");  // lives as long as its process
  for (const char* setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e20",
                              "contexts/stack-size:1024", "surf/precision:1e-12"}) {
    simgrid::s4u::Engine::set_config(setting);
  }
  if (actors > guarded_actors) simgrid::s4u::Engine::set_config("contexts/guard-size:0");
}

class SimBackend final : public Backend {
 public:
  explicit SimBackend(Params& params) : cluster_(params) {}

  std::vector<int> nodes(int ranks) const override { return cluster_.nodes_of(ranks); }
  int default_ranks() const override {
    return cluster_.platform.empty() ? cluster_.default_ranks() : hosts_of_platform();
  }
  bool simulated() const override { return true; }

  Outcome run(const World& world, const RankBody& body) override {
    cluster_.nodes_of(world.ranks);
    require(world.bucket_lanes >= 1, "a run needs at least one lane for buckets");
    return unpack(run_in_child([&] {
                    start_engine(std::int64_t{world.ranks} * (world.bucket_lanes + 2));
                    // Never destroyed: actors that were killed may still refer to it.
                    return pack((new Simulation(cluster_, world))->run(body));
                  }),
                  world.ranks);
  }

 private:
  int hosts_of_platform() const {
    const std::vector<std::byte> count = run_in_child([&] {
      start_engine(0);
      simgrid::s4u::Engine::get_instance()->load_platform(cluster_.platform);
      Packer packer;
      packer.put(static_cast<int>(simgrid::s4u::Engine::get_instance()->get_host_count()));
      return std::move(packer).bytes();
    });
    return Unpacker(count).take<int>();
  }

  Cluster cluster_;
};

const Backends::Registration registration("sim", {"simulated cluster on SimGrid: exact messages or fluid collectives"},
                                          [](Params& params) { return std::make_unique<SimBackend>(params); });

}  // namespace

}  // namespace trigram::sim
