// What collectives take from kernels that run on the same GPU meanwhile.
#include "tests/sim/rig.hpp"

namespace trigram::testing::contention_test {
namespace {

constexpr std::int64_t bytes = 25'000'000;
constexpr double collective = 2 * (alpha + bytes / 2.0 * beta);  ///< seconds of a ring of two

/// A kernel of so many seconds on the main lane, begun together with `collectives` all-reduces on another: when the
/// kernel is done.
double kernel(const std::string& more, double seconds, int collectives) {
  const auto results = run_ranks<double>(flat(2, more), 2, [&](RankRuntime& runtime) {
    Pending pending = runtime.launch(1, [&] {
      for (int i = 0; i < collectives; ++i) runtime.lane(1).comm->all_reduce(phantom(bytes), ReduceOp::sum);
    });
    const double begin = runtime.now();
    runtime.lane(0).device->charge_seconds(seconds);
    const double end = runtime.now();
    pending.wait();
    return std::vector<double>{end - begin};
  });
  return results.front().front();
}

// T + C·(1 − 1/f) where the collectives' C is over first, f·T where the kernel's is; slow ranks are slower in both
TEST(Contention, SlowsKernelsWhileACollectiveRuns) {
  for (const std::string fidelity : {"", ",fidelity=fluid"}) {
    const std::string slowed = "compute_slowdown=1.25" + fidelity;
    expect_relative(kernel(slowed, 5 * collective, 1), 5.2 * collective, 1e-4, fidelity);
    expect_relative(kernel(slowed, 5 * collective, 3), 5.6 * collective, 1e-4, fidelity);
    expect_relative(kernel(slowed, collective / 2, 1), 0.625 * collective, 1e-4, fidelity);
    expect_relative(kernel(slowed, collective / 2, 0), 0.5 * collective, 1e-4, fidelity);
    expect_relative(kernel(slowed + ",slow=0:2 1:2", 5 * collective, 1), 10.2 * collective, 1e-4, fidelity);
    expect_relative(kernel("compute_slowdown=1" + fidelity, 5 * collective, 1), 5 * collective, 1e-4, fidelity);
  }
}

// The host's time before each of two collectives slows nothing: the lane is in none of them.
TEST(Contention, EndsBetweenCollectives) {
  const std::string apart = ",call_overhead=" + number_text(collective) + "s";
  for (const std::string fidelity : {"", ",fidelity=fluid"})
    expect_relative(kernel("compute_slowdown=1.25" + apart + fidelity, 10 * collective, 2), 10.4 * collective, 1e-4,
                    fidelity);
}

TEST(Contention, LeavesCollectivesAsTheyAre) {
  expect_relative(duration(flat(2, "compute_slowdown=2"), 2, all_reduce_of(bytes)), collective, 1e-4);
}

TEST(Contention, IsRefusedWhereItCannotBe) {
  EXPECT_THROW(Backends::make(flat(2, "compute_slowdown=0.5")), UsageError);
}

}  // namespace
}  // namespace trigram::testing::contention_test
