// The backend 'mpi': one process a rank, started by mpirun or srun.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "backends/mpi/bootstrap.hpp"
#include "backends/mpi/session.hpp"
#include "backends/mpi/transport.hpp"
#include "backends/process/process_backend.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/registry/registry.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram::mpi {
namespace {

class MpiBackend final : public ProcessBackend {
 public:
  explicit MpiBackend(Params& params)
      : ProcessBackend(params, "those that share memory"),
        collectives_(
            params.get("collectives", "own", "own: bit-identical to the simulator; vendor: the MPI library's")) {
    require(collectives_ == "own" || collectives_ == "vendor",
            params.owner() + ": collectives=" + shown(collectives_) + " is neither own nor vendor");
  }

 private:
  const PlaceInJob& place() const override {
    if (!place_) place_ = {session().rank(), session().node_of_rank()};
    return *place_;
  }

  std::string how_to_start(int ranks) const override {
    return "MPI started " + std::to_string(session().ranks()) + "; start it with: " + launch_command(ranks);
  }

  std::unique_ptr<Transport> connect() const override {
    return std::make_unique<MpiTransport>(collectives_ == "vendor", timeout());
  }

  std::string facts(const std::vector<int>& node_of_rank) const override {
    const nlohmann::json facts{{"library", session().library()},
                               {"launcher", session().launcher()},
                               {"nodes", 1 + *std::ranges::max_element(node_of_rank)},
                               {"collectives", collectives_}};
    return facts.dump();
  }

  Session& session() const { return Session::join(timeout()); }

  std::string collectives_;
  mutable std::optional<PlaceInJob> place_;
};

const Backends::Registration registration("mpi", {"a CPU cluster: one process a rank, started by mpirun or srun"},
                                          [](Params& params) { return std::make_unique<MpiBackend>(params); });

const BackendTraits::Registration traits("mpi", {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"}},
                                                 .own_messages = {{"collectives", "own", /*same_bits=*/false}}});

}  // namespace
}  // namespace trigram::mpi
