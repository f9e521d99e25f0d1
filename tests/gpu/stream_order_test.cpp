// What lanes promise where work is ordered now and runs later.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/device/codec.hpp"
#include "core/lane/worker.hpp"
#include "core/values/error.hpp"
#include "kernels/cuda/kernels.hpp"
#include "tests/gpu/job_size.hpp"
#include "tests/gpu/meeting_kernels.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing::stream_order_test {
namespace {

using Longs = std::vector<std::int64_t>;

std::vector<Longs> run(const std::function<Longs(RankRuntime&)>& body) {
  return run_ranks<std::int64_t>("gpu:timeout=60s", job_size(), body);
}

/// Elements enough for a copy to take longer than ordering it.
constexpr std::int64_t many = 1 << 16;

Longs first_of(Device& device, const Buffer& x) { return on_host<std::int64_t>(device, x.slice(0, 1)); }

TEST(StreamOrder, ABodyFollowsWhatWasIssuedBeforeAndPrecedesWhatComesAfterItsWait) {
  const auto results = run([](RankRuntime& runtime) {
    Device& main = *runtime.lane(0).device;
    Lane& lane = runtime.lane(1);
    const OwnedBuffer x = main.allocate(Shape::of(many, DType::i64));
    const OwnedBuffer copy = main.allocate(Shape::of(many, DType::i64));
    Longs seen;
    for (int round = 0; round < 20; ++round) {
      main.fill(x, round);
      Pending pending = runtime.launch(1, [&] {
        lane.device->copy(x, copy);
        lane.comm->all_reduce(copy, ReduceOp::max);
      });
      pending.wait();
      main.reduce(ReduceOp::sum, x, copy);  // copy = 2 round
      const Longs last = on_host<std::int64_t>(main, copy.view().slice(many - 1, 1));
      seen.push_back(last[0] + first_of(main, copy)[0]);
    }
    return seen;
  });
  Longs expected;
  for (int round = 0; round < 20; ++round) expected.push_back(4 * round);
  for (const Longs& result : results) EXPECT_EQ(result, expected);
}

TEST(StreamOrder, InPlaceMeansTheSame) {
  const auto results = run([](RankRuntime& runtime) {
    Device& main = *runtime.lane(0).device;
    Device& lane = *runtime.lane(1).device;
    const OwnedBuffer x = main.allocate(Shape::of(many, DType::i64));
    const OwnedBuffer copy = main.allocate(Shape::of(many, DType::i64));
    Longs seen;
    for (int round = 1; round < 20; ++round) {
      main.fill(x, round);
      runtime.run_in_place(1, [&] { lane.copy(x, copy); });
      main.fill(x, -1);
      seen.push_back(first_of(main, copy)[0] - round);
    }
    return seen;
  });
  for (const Longs& result : results) EXPECT_EQ(result, Longs(19, 0));
}

TEST(StreamOrder, MemoryOfABodyLivesUntilItsWorkIsDone) {
  const auto results = run([](RankRuntime& runtime) {
    Lane& lane = runtime.lane(1);
    const OwnedBuffer sum = runtime.lane(0).device->allocate(Shape::of(many, DType::i64));
    Longs seen;
    for (int round = 0; round < 10; ++round) {
      Pending pending = runtime.launch(1, [&] {
        const OwnedBuffer temporary = lane.device->allocate(Shape::of(many, DType::i64));
        lane.device->fill(temporary, 1);
        lane.comm->all_reduce(temporary, ReduceOp::sum);
        lane.device->copy(temporary, sum);
      });
      pending.wait();
      seen.push_back(first_of(*runtime.lane(0).device, sum)[0]);
    }
    return seen;
  });
  for (const Longs& result : results) EXPECT_EQ(result, Longs(10, job_size()));
}

TEST(StreamOrder, ABodyMayAskForTheMeanOfWholeNumbers) {
  const auto results = run([](RankRuntime& runtime) {
    Lane& lane = runtime.lane(1);
    const OwnedBuffer x = on_device<std::int64_t>(*runtime.lane(0).device, {-7, 3 * job_size() + 1, 100});
    const OwnedBuffer bytes = on_device<std::uint8_t>(*runtime.lane(0).device, {9, 1});
    runtime
        .launch(1,
                [&] {
                  lane.comm->all_reduce(x, ReduceOp::mean);
                  lane.comm->all_reduce(bytes, ReduceOp::mean);
                })
        .wait();
    Longs seen = on_host<std::int64_t>(*runtime.lane(0).device, x);
    for (const std::uint8_t byte : on_host<std::uint8_t>(*runtime.lane(0).device, bytes)) seen.push_back(byte);
    return seen;
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{-7, 3 * job_size() + 1, 100, 9, 1}));
}

TEST(StreamOrder, ABodyMustNotWait) {
  const auto results = run([](RankRuntime& runtime) {
    Device& device = *runtime.lane(1).device;
    const OwnedBuffer x = device.allocate(Shape::of(1, DType::i64));
    Longs refused;
    for (const bool downloads : {true, false}) {
      Pending pending = runtime.launch(1, [&] { downloads ? void(first_of(device, x)) : device.synchronize(); });
      try {
        pending.wait();
        refused.push_back(0);
      } catch (const Error& error) {
        refused.push_back(std::string(error.what()).find("lane 1") != std::string::npos ? 1 : 2);
      }
    }
    first_of(device, x);  // outside a body it may
    return refused;
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{1, 1}));
}

/// Host work on a stream, which counts itself once it is let through.
struct Step {
  std::atomic<bool> open{false};
  std::atomic<int>* done = nullptr;

  static void run(void* step) {
    auto* self = static_cast<Step*>(step);
    while (!self->open) std::this_thread::sleep_for(std::chrono::microseconds(50));
    ++*self->done;
  }
};

TEST(StreamOrder, TheHostIsTwoStepsAheadAtMost) {
  const auto results = run([](RankRuntime& runtime) {
    constexpr int steps = 6;
    const cudaStream_t stream = dynamic_cast<CudaKernels&>(runtime.lane(0).device->kernels()).stream();
    std::atomic<int> done{0};
    std::array<Step, steps> all;
    Longs seen;
    for (int step = 0; step < steps; ++step) {
      all[static_cast<std::size_t>(step)].done = &done;
      cudaLaunchHostFunc(stream, Step::run, &all[static_cast<std::size_t>(step)]);
      // Those under way are held, so that a wait for them would never end.
      if (step >= 2) all[static_cast<std::size_t>(step - 2)].open = true;
      runtime.step_ends();
      seen.push_back(done);
    }
    for (Step& step : all) step.open = true;
    runtime.lane(0).device->synchronize();
    return seen;
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{0, 0, 1, 2, 3, 4}));
}

cudaStream_t stream_of(RankRuntime& runtime, int lane) {
  return dynamic_cast<CudaKernels&>(runtime.lane(lane).device->kernels()).stream();
}

TEST(StreamOrder, LanesRunAtTheSameTime) {
  const auto results = run([](RankRuntime& runtime) {
    MeetingKernels meeting;
    Pending first = runtime.launch(1, [&] { meeting.order_wait(stream_of(runtime, 1)); });
    Pending second = runtime.launch(2, [&] { meeting.order_raise(stream_of(runtime, 2)); });
    first.wait();
    second.wait();
    runtime.lane(0).device->synchronize();
    return Longs{meeting.met() ? 1 : 0};
  });
  for (const Longs& result : results) EXPECT_EQ(result, Longs{1}) << "the second lane ran when the first had ended";
}

/// What a step orders, on the main lane: nothing of it may wait for other lanes.
void order_a_step(Device& device) {
  constexpr std::int64_t count = 5003;
  const OwnedBuffer x = on_device<float>(device, std::vector<float>(count, 0.5F));
  const OwnedBuffer sum = device.allocate(Shape::of(1, DType::f32));
  device.fill_normal(x, {.seed = 7});
  device.scale(x, 2);
  device.dot(x, x, sum);
  for (const char* name : {"minmax_uint8", "qsgd", "one_bit", "fp16", "top_k", "random_k"}) {
    const auto codec = device.make_codec(name);
    const OwnedBuffer frame = device.allocate(codec->encoded_shape(x.view().shape()));
    codec->encode(device, x, frame, {.seed = 7});
    codec->decode(device, frame, x, {.seed = 7});
  }
  device.synchronize();
  on_host<float>(device, sum);
}

TEST(StreamOrder, AStepOfOneLaneWaitsForNoOther) {
  const auto results = run([](RankRuntime& runtime) {
    Device& main = *runtime.lane(0).device;
    order_a_step(main);  // what is loaded at its first use
    MeetingKernels meeting;
    Pending other = runtime.launch(1, [&] { meeting.order_wait(stream_of(runtime, 1)); });
    order_a_step(main);
    meeting.raise_now();
    other.wait();
    main.synchronize();
    return Longs{meeting.met() ? 1 : 0};
  });
  for (const Longs& result : results) EXPECT_EQ(result, Longs{1}) << "something waited for the other lane to end";
}

TEST(StreamOrder, MessagesToOneselfAreCopies) {
  const auto results = run([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const OwnedBuffer out = on_device<std::int64_t>(comm.device(), {7, 8});
    const OwnedBuffer in = comm.device().allocate(Shape::of(2, DType::i64));
    comm.exchange({Transfer::send_to(comm.rank(), out.view().slice(0, 1)),
                   Transfer::send_to(comm.rank(), out.view().slice(1, 1)),
                   Transfer::receive_from(comm.rank(), in.view().slice(1, 1)),
                   Transfer::receive_from(comm.rank(), in.view().slice(0, 1))});
    return on_host<std::int64_t>(comm.device(), in);
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{8, 7}));
}

TEST(StreamOrder, NegativeColorsSplit) {
  const auto results = run([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const auto part = comm.split(comm.rank() % 2 == 0 ? -5 : 3, -comm.rank());
    return Longs{part->size(), part->rank()};
  });
  const int ranks = job_size();
  for (int rank = 0; rank < ranks; ++rank) {
    const int size = (ranks + (rank % 2 == 0 ? 1 : 0)) / 2;
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], (Longs{size, size - 1 - rank / 2}));
  }
}

}  // namespace
}  // namespace trigram::testing::stream_order_test
