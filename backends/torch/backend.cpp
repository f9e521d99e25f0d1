// The backend 'torch': processes that torch.distributed connects, as those of torchrun.
#include <optional>

#include "backends/torch/transport.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/registry/registry.hpp"

namespace trigram::torch {
namespace {

class TorchBackend final : public ProcessBackend {
 public:
  explicit TorchBackend(Params& params) : ProcessBackend(params, "those of one host") {}

 private:
  const Place& place() const override {
    if (!place_) place_ = join(network_in_use(), timeout());
    return *place_;
  }

  std::string how_to_start(int ranks) const override {
    return "torch.distributed connects " + std::to_string(place().ranks()) +
           " processes; start so many, as by: torchrun --nproc-per-node " + std::to_string(ranks) + " train.py";
  }

  std::unique_ptr<Transport> connect() const override {
    return std::make_unique<TorchTransport>(network_in_use(), place(), timeout());
  }

  std::string facts(const std::vector<int>& /*node_of_rank*/) const override { return place().facts; }

  mutable std::optional<Place> place_;
};

const Backends::Registration registration(
    "torch", {"processes that torch.distributed connects, as those of torchrun; for trigram.with_trigram alone"},
    [](Params& params) { return std::make_unique<TorchBackend>(params); });

const BackendTraits::Registration traits("torch", {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"}}});

}  // namespace
}  // namespace trigram::torch
