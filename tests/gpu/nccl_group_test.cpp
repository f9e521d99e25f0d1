// One communicator of NCCL and what becomes of it when its peers are late; on the double, whose peers can be made so.
#include "backends/gpu/nccl_group.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "core/values/error.hpp"
#include "ptx/runtime/control.hpp"

namespace trigram::gpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

constexpr double patient = 20;
constexpr double impatient = 0.05;

/// While it lives, peers of the double come so late.
class LatePeers {
 public:
  explicit LatePeers(int milliseconds) { setenv("NCCL_ON_HOST_LATE_MS", std::to_string(milliseconds).c_str(), 1); }
  ~LatePeers() { unsetenv("NCCL_ON_HOST_LATE_MS"); }
  LatePeers(const LatePeers&) = delete;
  LatePeers& operator=(const LatePeers&) = delete;
  static void have_come(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(2 * milliseconds)); }
};

std::unique_ptr<NcclGroup> alone(double timeout) {
  return std::make_unique<NcclGroup>("main lane, all ranks", make_unique_id(), 1, 0, timeout);
}

/// What the double counts by that name.
int counted(const char* name) {
  static void* const library = dlopen(nccl_path().c_str(), RTLD_NOW);
  const auto count = reinterpret_cast<int (*)()>(dlsym(library, name));
  return count == nullptr ? -1 : count();
}

/// Stands where the frames of an earlier call stood, and says whether anything is written there meanwhile.
[[gnu::noinline]] bool written_over(int milliseconds) {
  std::array<char, 8192> stack{};
  asm volatile("" : : "r"(stack.data()) : "memory");  // so that it is there before the wait
  LatePeers::have_come(milliseconds);
  asm volatile("" : : "r"(stack.data()) : "memory");
  return std::ranges::any_of(stack, [](char byte) { return byte != 0; });
}

[[gnu::noinline]] void split_in_vain(NcclGroup& group) {
  EXPECT_THAT([&] { group.split("node", 0, 0); },
              ThrowsMessage<BackendError>(HasSubstr("main lane, all ranks: ncclCommSplit has waited 0.05 s")));
}

TEST(NcclGroup, APartThatComesTooLateIsWrittenNowhere) {
  const auto group = alone(patient);
  group->use_timeout(impatient);
  constexpr int late = 200;
  const LatePeers peers(late);
  split_in_vain(*group);
  EXPECT_FALSE(written_over(late));
}

TEST(NcclGroup, APartThatComesInTimeIsWhole) {
  const auto group = alone(patient);
  const LatePeers peers(30);
  const auto part = group->split("node", 3, 0);
  EXPECT_EQ(part->size(), 1);
  EXPECT_EQ(part->rank(), 0);
  EXPECT_THAT(part->finish(patient), IsEmpty());
}

TEST(NcclGroup, APartThatComesTooLateEndsWithItsParent) {
  const int before = counted("ncclOnHostAlive");
  const auto group = alone(patient);
  group->use_timeout(impatient);
  constexpr int late = 200;
  const LatePeers peers(late);
  split_in_vain(*group);
  LatePeers::have_come(late);
  EXPECT_EQ(counted("ncclOnHostAlive"), before + 2);
  group->abandon();
  EXPECT_EQ(counted("ncclOnHostAlive"), before);
}

TEST(NcclGroup, WhosePartCameTooLateIsAbortedAtItsEnd) {
  const auto group = alone(patient);
  group->use_timeout(impatient);
  constexpr int late = 200;
  const LatePeers peers(late);
  split_in_vain(*group);
  LatePeers::have_come(late);
  const int alive = counted("ncclOnHostAlive"), aborted = counted("ncclOnHostAborted");
  EXPECT_THAT(group->finish(patient), HasSubstr("main lane, all ranks: a split of it has failed; it was aborted"));
  EXPECT_EQ(counted("ncclOnHostAlive"), alive - 2);
  EXPECT_EQ(counted("ncclOnHostAborted"), aborted + 2);
}

/// Work of the group that its stream does not come to yet.
class HeldWork {
 public:
  explicit HeldWork(NcclGroup& group) {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    cudaMallocAsync(&memory_, 1, stream_);
    cudaLaunchHostFunc(stream_, wait, &open_);
    group.call("ncclBroadcast",
               [&](ncclComm_t comm) { return nccl().broadcast(memory_, memory_, 1, ncclUint8, 0, comm, stream_); });
  }
  ~HeldWork() {
    open_ = true;
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  HeldWork(const HeldWork&) = delete;
  HeldWork& operator=(const HeldWork&) = delete;

 private:
  /// Not for ever, so that who waits for it fails and does not hang.
  static void wait(void* open) {
    for (int naps = 0; naps < 60000 && !*static_cast<std::atomic<bool>*>(open); ++naps)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::atomic<bool> open_{false};
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
};

TEST(NcclGroup, EndsInTimeWhetherItsCallsBlockOrNot) {
  for (const Calls calls : {Calls::ask, Calls::block}) {
    NcclGroup group("main lane, all ranks", make_unique_id(), 1, 0, patient, calls);
    const HeldWork work(group);
    EXPECT_THAT(group.finish(impatient), AllOf(HasSubstr("ncclCommFinalize: ncclInProgress"), HasSubstr("aborted")));
    EXPECT_EQ(counted("ncclOnHostFinalizing"), 0) << "a thread is still in the communicator that was aborted";
  }
}

TEST(NcclDouble, RefusesInAGroupOfCallsWhatMayNotStandThere) {
  const auto group = alone(patient);
  const auto in_a_group = [&](const std::function<ncclResult_t(ncclComm_t)>& call) {
    ncclResult_t result = ncclSuccess;
    group->call("nothing", [&](ncclComm_t comm) {
      GroupOfCalls calls;
      calls.add(call(comm));
      result = calls.close();
      return ncclSuccess;
    });
    return result;
  };
  char byte = 0;
  EXPECT_EQ(in_a_group([](ncclComm_t comm) { return nccl().comm_finalize(comm); }), ncclInvalidUsage);
  EXPECT_EQ(in_a_group(
                [&](ncclComm_t comm) { return nccl().all_reduce(&byte, &byte, 1, ncclUint8, ncclSum, comm, nullptr); }),
            ncclInvalidUsage);
  EXPECT_EQ(in_a_group([&](ncclComm_t comm) { return nccl().send(&byte, 1, ncclUint8, 5, comm, nullptr); }),
            ncclInvalidArgument);
  EXPECT_EQ(nccl().group_end(), ncclInvalidUsage);
}

TEST(NcclDouble, IsInProgressUntilItIsAsked) {
  const auto group = alone(patient);
  group->call("two calls", [](ncclComm_t comm) {
    ncclComm_t part = nullptr;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    EXPECT_EQ(nccl().comm_split(comm, 0, 0, &part, &config), ncclInProgress);
    while (std::atomic_ref(part).load() == nullptr) std::this_thread::yield();
    int rank = 0;
    EXPECT_EQ(nccl().comm_user_rank(comm, &rank), ncclInvalidArgument) << "nobody has asked";
    ncclResult_t state = ncclSuccess;
    nccl().comm_get_async_error(comm, &state);
    EXPECT_EQ(state, ncclInProgress);
    while (state == ncclInProgress) nccl().comm_get_async_error(comm, &state);
    EXPECT_EQ(nccl().comm_user_rank(comm, &rank), ncclSuccess);
    return nccl().comm_abort(part);
  });
}

TEST(NcclGroup, PartsShareWhatTheirParentHolds) {
  const auto group = alone(patient);
  const int before = counted("ncclOnHostOwnResources");
  const auto node = group->split("node", 0, 0);
  const auto leaders = group->split("leaders", 0, 0);
  EXPECT_EQ(counted("ncclOnHostOwnResources"), before);
}

TEST(NcclGroup, AGroupThatComesTooLateIsAborted) {
  ASSERT_NE(make_unique_id().internal[0], 0);  // NCCL is loaded
  const int before = counted("ncclOnHostAborted");
  constexpr int late = 200;
  const LatePeers peers(late);
  EXPECT_THAT([] { alone(impatient); }, ThrowsMessage<BackendError>(HasSubstr("ncclCommInitRankConfig has waited")));
  EXPECT_EQ(counted("ncclOnHostAborted"), before + 1);
  EXPECT_FALSE(written_over(late));
}

TEST(NcclGroup, IsLeftOnceItsWayOutIsOpen) {
  constexpr int late = 3000;
  const LatePeers peers(late);
  const auto way_out = std::make_shared<WayOut>();
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    way_out->open("rank 1 is gone");
  });
  EXPECT_THAT([&] { NcclGroup("main lane, all ranks", make_unique_id(), 1, 0, patient, Calls::ask, way_out); },
              ThrowsMessage<BackendError>("rank 1 is gone"));
  opens.join();
  LatePeers::have_come(late / 2);
}

/// Two ranks on two devices of one host, of which the second has died.
class LeftAlone {
 public:
  LeftAlone() {
    cuda_on_host::set_device_count(2);
    const ncclUniqueId id = make_unique_id();
    std::thread other([&] {
      cudaSetDevice(1);
      NcclGroup("rank 1", id, 2, 1, patient).finish(patient);
    });
    group = std::make_unique<NcclGroup>("rank 0", id, 2, 0, patient);
    other.join();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMallocAsync(&memory_, 1, stream);
    try {
      group->call("ncclRecv", [&](ncclComm_t comm) { return nccl().recv(memory_, 1, ncclUint8, 1, comm, stream); });
    } catch (const BackendError& error) {
      told = error.what();  // it has been ordered all the same
    }
  }
  ~LeftAlone() {
    group->abandon();
    cudaStreamSynchronize(stream);
    cudaFreeAsync(memory_, stream);
    cudaStreamDestroy(stream);
    cuda_on_host::set_device_count(1);
  }
  LeftAlone(const LeftAlone&) = delete;
  LeftAlone& operator=(const LeftAlone&) = delete;

  std::unique_ptr<NcclGroup> group;
  cudaStream_t stream = nullptr;
  std::string told;

 private:
  void* memory_ = nullptr;
};

TEST(NcclDouble, SeesNoDeathOfAPeerOfItsHost) {
  const LeftAlone rank;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_THAT(rank.told + rank.group->asynchronous_error(), IsEmpty());
  EXPECT_EQ(cudaStreamQuery(rank.stream), cudaErrorNotReady) << "what waits for it ends without an abort";
}

TEST(NcclDouble, TellsADeathOnAnotherHostAndWaitsAllTheSame) {
  setenv("NCCL_HOSTID", "a host of its own", 1);
  {
    const LeftAlone rank;
    while (rank.group->asynchronous_error().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_THAT(rank.group->asynchronous_error(), HasSubstr("ncclRemoteError"));
    EXPECT_EQ(cudaStreamQuery(rank.stream), cudaErrorNotReady) << "what waits for it ends without an abort";
  }
  unsetenv("NCCL_HOSTID");
}

TEST(NcclGroup, WhatGoesWrongAtItsEndIsSaid) {
  const auto group = alone(patient);
  ASSERT_EQ(nccl().comm_finalize(nullptr), ncclInvalidArgument);
  group->call("ncclCommFinalize", [](ncclComm_t comm) { return nccl().comm_finalize(comm); });
  EXPECT_THAT(group->finish(patient),
              AllOf(HasSubstr("main lane, all ranks: ncclCommFinalize: ncclInvalidArgument"), HasSubstr("aborted")));
  EXPECT_THAT(group->finish(patient), IsEmpty());
  EXPECT_THAT(group->abandon(), IsEmpty());
}

}  // namespace
}  // namespace trigram::gpu
