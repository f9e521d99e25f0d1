// For how long GPUs are busy, and rates of a cluster that cannot be.
#include <gmock/gmock.h>

#include "tests/sim/rig.hpp"

namespace trigram::testing::expenses_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Kernels of 3 s and 1 s that begin together share the GPU: the shorter ends after 2 s, the longer after 4.
TEST(BusySeconds, CountKernelsOfTwoLanesOnce) {
  for (const char* fidelity : {"", "fidelity=fluid"}) {
    const auto busy = run_ranks<double>(flat(2, fidelity), 2, [](RankRuntime& runtime) {
      Pending beside;
      if (runtime.rank() == 0) beside = runtime.launch(1, [&] { runtime.lane(1).device->charge_seconds(1); });
      runtime.lane(0).device->charge_seconds(runtime.rank() == 0 ? 3 : 10);
      if (runtime.rank() == 0) beside.wait();
      runtime.agree(0, ReduceOp::sum);
      const double first = runtime.take_busy_seconds();
      return std::vector<double>{runtime.now(), first, runtime.take_busy_seconds()};
    });
    EXPECT_THAT(busy[0], ElementsAre(10, 4, 0)) << fidelity;
    EXPECT_THAT(busy[1], ElementsAre(10, 10, 0)) << fidelity;
  }
}

// A kernel of 5 s that is asked about after 2.
TEST(BusySeconds, CountAKernelThatRunsUntilNow) {
  const auto busy = run_ranks<double>(flat(2), 2, [](RankRuntime& runtime) {
    Pending beside = runtime.launch(1, [&] {
      if (runtime.rank() == 0) runtime.lane(1).device->charge_seconds(5);
    });
    if (runtime.rank() == 1) runtime.lane(0).device->charge_seconds(2);
    runtime.agree(0, ReduceOp::sum);
    const double first = runtime.take_busy_seconds();
    beside.wait();
    return std::vector<double>{first, runtime.take_busy_seconds()};
  });
  EXPECT_THAT(busy[0], ElementsAre(2, 3));
}

TEST(ExpensesOfACluster, AreRefusedInPart) {
  const auto refused = [](const std::string& keys, const std::string& message) {
    EXPECT_THAT([&] { Backends::make(flat(2, keys)); }, ::testing::ThrowsMessage<UsageError>(HasSubstr(message)));
  };
  refused("gpu_busy_power=300W", "'gpu_busy_power' alone counts some of the joules; give 'gpu_busy_power' and");
  refused("nic_energy=1nJ/B", "'nic_energy' alone");
  refused("gpu_busy_power=300W,gpu_idle_power=301W", "'gpu_idle_power' of 301 W is more than 'gpu_busy_power' of 300");
  refused("gpu_price=3USD", "is no quantity here; write a number that is not negative with one of: USD/h USD/s");
}

}  // namespace
}  // namespace trigram::testing::expenses_test
