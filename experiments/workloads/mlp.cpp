// A multilayer perceptron with ReLU: the smallest network that is not convex.
#include "experiments/workloads/networks/classifier.hpp"
#include "experiments/workloads/networks/fully_connected.hpp"
#include "experiments/workloads/networks/widths.hpp"

namespace trigram {
namespace {

const Workloads::Registration registered("mlp", {"multilayer perceptron with ReLU on real data"}, [](Params& params) {
  const std::string hidden = params.get("hidden", "32", "widths of the hidden layers, as 64x32");
  return std::make_unique<Classifier>("mlp", FullyConnected::over(parse_widths(params.owner(), "hidden", hidden)),
                                      params);
});

}  // namespace
}  // namespace trigram
