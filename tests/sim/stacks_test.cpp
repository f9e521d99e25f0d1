// Stacks of simulated ranks are addresses, which a limit of the process can refuse.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <fstream>

#include "tests/sim/rig.hpp"

namespace trigram::testing::stacks_test {
namespace {

/// While it lives, this process can reserve so many bytes more.
class AddressesLeft {
 public:
  explicit AddressesLeft(double bytes) {
    constexpr double page = 4096;
    double pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit less = before_;
    less.rlim_cur = static_cast<rlim_t>(pages * page + bytes);
    setrlimit(RLIMIT_AS, &less);
  }
  ~AddressesLeft() { setrlimit(RLIMIT_AS, &before_); }
  AddressesLeft(const AddressesLeft&) = delete;
  AddressesLeft& operator=(const AddressesLeft&) = delete;

 private:
  rlimit before_{};
};

std::string refusal(int ranks, int bucket_lanes) {
  World world;
  world.ranks = ranks;
  world.bucket_lanes = bucket_lanes;
  try {
    const auto backend = Backends::make("sim:nodes=1000");
    const AddressesLeft left(1e9);
    backend->nodes(ranks);
    backend->run(world, [](RankRuntime&) { return std::vector<std::byte>{}; });
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Stacks, AreRefusedWhereAddressesDoNotReach) {
  EXPECT_THAT(refusal(4000, 1),
              ::testing::ContainsRegex("4000 simulated ranks of 3 lanes may take 12\\.[0-9]+GB of "
                                       "address space; .*\\(ulimit -v\\) leaves (1GB|99[0-9.]+MB); raise it"));
  EXPECT_THAT(refusal(100, 18), ::testing::HasSubstr("100 simulated ranks of 20 lanes"));
  EXPECT_EQ(refusal(100, 1), "");
}

}  // namespace
}  // namespace trigram::testing::stacks_test
