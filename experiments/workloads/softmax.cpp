// Softmax regression: a convex problem on real data.
#include "experiments/workloads/classifier.hpp"

namespace trigram {
namespace {

const Workloads::Registration registered("softmax", {"softmax regression on real data"}, [](Params& params) {
  return std::make_unique<Classifier>("softmax", std::vector<std::int64_t>{}, params);
});

}  // namespace
}  // namespace trigram
