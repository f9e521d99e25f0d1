// An algorithm that never ends, which whoever tries it must say with the trial, the step and all peers.
#include <vector>

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "tests/algorithms/mutants/averages.hpp"

namespace trigram {
namespace {

/// In step 3 rank 1 waits for a message that nobody sends, beside those that it gets.
class WaitsForAMessageTooMany final : public GradientMethod {
 public:
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    centralized_full_precision(lane, bucket.gradients);
    if (lane.step != 3 || lane.world_size() < 3) return;
    const int next = (lane.rank() + 1) % lane.world_size(),
              before = (lane.rank() + lane.world_size() - 1) % lane.world_size();
    const OwnedBuffer from_before = lane.device.allocate(bucket.gradients.shape());
    const OwnedBuffer from_next = lane.device.allocate(bucket.gradients.shape());
    std::vector<Transfer> transfers{Transfer::send_to(next, bucket.gradients),
                                    Transfer::receive_from(before, from_before)};
    if (lane.rank() == 1) transfers.push_back(Transfer::receive_from(next, from_next));
    lane.comm.exchange(transfers);
  }
};

const Algorithms::Registration registration("mutant/waits_for_a_message_too_many", {"a deadlock in step 3"},
                                            [](Params&) { return std::make_unique<WaitsForAMessageTooMany>(); });

}  // namespace
}  // namespace trigram
