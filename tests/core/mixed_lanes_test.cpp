// Transports that mix up the lanes of a rank are found by probes that every transport must pass.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>

#include "backends/process/entered_process.hpp"
#include "backends/process/threaded_runtime.hpp"
#include "backends/threads/transport.hpp"
#include "tests/core/overtaking.hpp"

namespace trigram::testing {
namespace {

using Longs = std::vector<std::int64_t>;

/// What a transport of threads does wrong, where it does.
enum class Mixing { none, groups_of_all_lanes, replies_to_all_lanes };

/// A transport of threads on which all lanes have one communicator's key, or all replies one tag.
class MixedLanes final : public Transport, private Mail {
 public:
  MixedLanes(const std::shared_ptr<threads::Network>& network, int rank, Mixing mixing)
      : right_(network, rank), mixing_(mixing) {}

  HostGroup& host() override { return right_.host(); }
  std::unique_ptr<Communicator> communicator(int lane, const RankPartition& partition,
                                             const std::shared_ptr<LaneContext>& context) override {
    return right_.communicator(mixing_ == Mixing::groups_of_all_lanes ? 0 : lane, partition, context);
  }
  Mail& mail() override { return *this; }
  void fail(const std::exception_ptr& error) noexcept override { right_.fail(error); }

 private:
  void open(bool serves) override { right_.mail().open(serves); }
  void carry(std::span<const TaggedMessage> messages, const LaneContext& lane, const std::string& operation) override {
    std::vector<TaggedMessage> mixed(messages.begin(), messages.end());
    for (TaggedMessage& message : mixed) {
      const bool is_reply = message.tag != envelope_tag && message.tag % 2 == 0;
      if (is_reply && mixing_ == Mixing::replies_to_all_lanes) message.tag = 2;
    }
    right_.mail().carry(mixed, lane, operation);
  }
  std::pair<int, Envelope> take(const LaneContext& lane, double seconds, const std::string& operation,
                                const std::string& what) override {
    return right_.mail().take(lane, seconds, operation, what);
  }

  threads::ThreadTransport right_;
  Mixing mixing_;
};

/// Whether two ranks see what they should in a probe. A wrong transport may also hand over messages of another size, or
/// none in time.
bool holds(const std::function<Longs(RankRuntime&)>& probe, const Longs& expected, Mixing mixing) {
  const double timeout = mixing == Mixing::none ? 60 : 0.2;
  const auto network = std::make_shared<threads::Network>(2);
  std::array<Longs, 2> seen;
  const auto run_rank = [&](int rank) {
    try {
      World world;
      world.ranks = 2;
      auto own = std::make_unique<ThreadedRuntime>(std::make_unique<MixedLanes>(network, rank, mixing), world,
                                                   std::vector{0, 0}, timeout);
      EnteredProcess entered(std::move(own), "{}", Loop::ours);
      static_cast<void>(run_entered(entered, [&](RankRuntime& runtime) {
        seen[static_cast<std::size_t>(rank)] = probe(runtime);
        return std::vector<std::byte>();
      }));
    } catch (...) {
      network->ending.fail(rank, std::current_exception());
    }
  };
  std::thread other(run_rank, 1);
  run_rank(0);
  other.join();
  return seen[0] == expected && seen[1] == expected && !network->ending.over();
}

TEST(MixedLanes, AreFoundByMessagesThatOvertake) {
  EXPECT_TRUE(holds(overtaken_messages, overtaken_by_lane, Mixing::none));
  EXPECT_FALSE(holds(overtaken_messages, overtaken_by_lane, Mixing::groups_of_all_lanes));
}

TEST(MixedLanes, AreFoundByRepliesThatOvertake) {
  EXPECT_TRUE(holds(overtaken_replies, overtaken_by_subject, Mixing::none));
  EXPECT_FALSE(holds(overtaken_replies, overtaken_by_subject, Mixing::replies_to_all_lanes));
}

}  // namespace
}  // namespace trigram::testing
