// Collectives of the session's library on memory of a GPU: ordered between what the caller orders on its own stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/values/error.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "tests/gpu/job_size.hpp"
#include "tests/gpu/own_loop.hpp"

namespace trigram::testing::gpu_tensor_group_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::int64_t many = 1 << 14;

float sum_of_all() { return static_cast<float>(job_size() * (job_size() + 1)) / 2; }

/// A rank's group of tensors, which follows a stream.
class OwnGroup {
 public:
  OwnGroup() {
    int device = 0;
    cuda::check(cudaGetDevice(&device), "cudaGetDevice");
    const Flags flags{{"backend", "gpu:timeout=60s"}, {"device", std::to_string(device)}};
    succeed(trigram_group_open(nlohmann::json(flags).dump().c_str(), &group_));
    rank_ = reply().at("rank");
    succeed(trigram_group_follow(group_, stream_.number()));
  }
  ~OwnGroup() { trigram_group_close(group_); }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;

  operator TensorGroup*() const { return group_; }  // NOLINT(google-explicit-constructor): it is what C is given
  const OwnStream& stream() const { return stream_; }
  float own_number() const { return static_cast<float>(rank_ + 1); }
  int rank() const { return rank_; }

  int call(int group, const std::string& collective, const OwnNumbers& x) {
    const std::uint64_t address = x.address();
    const std::int64_t count = x.count();
    return trigram_group_call(group_, group, asked(collective).c_str(), &address, &count, 1);
  }
  std::int64_t begin(const std::string& collective, const OwnNumbers& x) {
    const std::uint64_t address = x.address();
    const std::int64_t count = x.count();
    std::int64_t begun = -1;
    succeed(trigram_group_begin(group_, 0, asked(collective).c_str(), &address, &count, 1, &begun));
    return begun;
  }
  std::vector<float> read(const OwnNumbers& x) const { return stream_.read(x.begin(), x.count()); }

 private:
  static std::string asked(const std::string& collective) {
    return nlohmann::json{{"collective", collective},         {"op", "sum"}, {"peer", 0}, {"dtype", "f32"},
                          {"peers", nlohmann::json::array()}, {"sent", 0}}
        .dump();
  }

  OwnStream stream_;
  TensorGroup* group_ = nullptr;
  int rank_ = 0;
};

TEST(TensorGroupOnGpus, CallsComeBetweenWhatTheStreamIsGiven) {
  OwnGroup group;
  const OwnNumbers x(many);
  for (int round = 0; round < 10; ++round) {
    MeetingKernels held;
    held.order_wait(group.stream());
    order_fill(group.own_number(), x.begin(), many, group.stream());
    succeed(group.call(0, "all_reduce", x));
    order_step(-1, x.begin(), x.begin(), many, group.stream());  // doubles them
    held.raise_now();
    EXPECT_THAT(group.read(x), Each(2 * sum_of_all()));
    EXPECT_TRUE(held.met()) << "the call waited for the stream on the host";
  }
  succeed(trigram_group_leave(group));
}

TEST(TensorGroupOnGpus, WhatIsBegunComesBeforeWhatFollowsItsWait) {
  OwnGroup group;
  const OwnNumbers x(many), y(many);
  for (int round = 0; round < 10; ++round) {
    MeetingKernels held;
    held.order_wait(group.stream());
    order_fill(group.own_number(), x.begin(), many, group.stream());
    const std::int64_t begun = group.begin("all_reduce", x);
    order_fill(group.own_number(), y.begin(), many, group.stream());
    succeed(group.call(0, "all_reduce", y));
    int done = 1;
    succeed(trigram_group_done(group, begun, &done));
    EXPECT_EQ(done, 0) << "the stream is held";
    succeed(trigram_group_wait(group, begun));
    order_step(-1, x.begin(), x.begin(), many, group.stream());
    held.raise_now();
    EXPECT_THAT(group.read(x), Each(2 * sum_of_all()));
    EXPECT_THAT(group.read(y), Each(sum_of_all()));
    EXPECT_TRUE(held.met()) << "a wait held the host";
  }
  succeed(trigram_group_leave(group));
}

TEST(TensorGroupOnGpus, WhatIsBegunIsDoneByAndBy) {
  OwnGroup group;
  const OwnNumbers x(many);
  order_fill(group.own_number(), x.begin(), many, group.stream());
  const std::int64_t begun = group.begin("all_reduce", x);
  int done = 0;
  while (done == 0) succeed(trigram_group_done(group, begun, &done));
  succeed(trigram_group_leave(group));  // waits for all that was begun
  EXPECT_THAT(group.read(x), Each(sum_of_all()));
}

TEST(TensorGroupOnGpus, PartsFollowTheStreamToo) {
  OwnGroup group;
  succeed(trigram_group_split(group, 0, 0, -group.rank()));
  const int reversed = reply().at("group");
  EXPECT_EQ(reply().at("rank"), job_size() - 1 - group.rank());
  const OwnNumbers x(many);
  for (int round = 0; round < 10; ++round) {
    order_fill(group.own_number(), x.begin(), many, group.stream());
    std::thread([&] { succeed(group.call(reversed, "broadcast", x)); }).join();
    EXPECT_THAT(group.read(x), Each(static_cast<float>(job_size()))) << "the last rank's";
    order_fill(0, x.begin(), many, group.stream());
  }
  succeed(trigram_group_leave(group));
}

TEST(TensorGroupOnGpus, RefuseMemoryOfTheHost) {
  TensorGroup* group = nullptr;
  EXPECT_THAT(message_of(trigram_group_open(R"({"backend": "gpu"})", &group)),
              HasSubstr("the memory to work on is the host's"));
}

}  // namespace
}  // namespace trigram::testing::gpu_tensor_group_test
