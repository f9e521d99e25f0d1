// Softmax regression: a convex problem on real data.
#include "experiments/workloads/networks/classifier.hpp"
#include "experiments/workloads/networks/fully_connected.hpp"

namespace trigram {
namespace {

const Workloads::Registration registered("softmax", {"softmax regression on real data"}, [](Params& params) {
  return std::make_unique<Classifier>("softmax", FullyConnected::over({}), params);
});

}  // namespace
}  // namespace trigram
