// A job that goes wrong on purpose: what its launcher sees is the test.
#include <signal.h>
#include <sys/mman.h>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "core/lane/service.hpp"
#include "core/lane/worker.hpp"
#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "tests/support/exit_status.hpp"

namespace trigram {
namespace {

using Scenario = void (*)(RankRuntime&, int rank);

/// Waits with the others for a rank that never comes.
void wait_for_all(RankRuntime& runtime) { runtime.lane(0).comm->barrier(); }

void throws(RankRuntime& runtime, int rank) {
  if (rank == 1) throw UsageError("the flux of rank 1 is 7");
  wait_for_all(runtime);
}

void throws_beside_a_lane(RankRuntime& runtime, int rank) {
  const Pending pending = runtime.launch(1, [&] {
    if (rank != 1) runtime.lane(1).comm->barrier();
  });
  throws(runtime, rank);
}

void throws_in_a_lane(RankRuntime& runtime, int rank) {
  const Pending pending = runtime.launch(1, [&] {
    if (rank == 1) throw UsageError("the flux of rank 1 is 7");
  });
  runtime.lane(0).comm->exchange({Transfer::receive_from(rank, Buffer(nullptr, Shape::of(0, DType::u8)))});
}

/// Rank 1 serves, and computes for long.
void throws_in_a_service(RankRuntime& runtime, int rank) {
  class Broken final : public Service {
    void take(Worker&, const Request&) override { throw UsageError("the flux of rank 1 is 7"); }
    std::optional<Buffer> give(Worker&, const Request&) override { return std::nullopt; }
  } broken;
  Worker worker(runtime, 0, {});
  Serving serving;
  serving.begin(worker, rank == 1 ? &broken : nullptr);
  const OwnedBuffer x = worker.device.allocate(Shape::of(6, DType::f32));
  if (rank != 1) ask(worker, {1, 0, x, x});
  for (int step = 0; step < 600; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    serving.exclusively(worker, [] {});
  }
}

/// Rank 1 serves, and never replies.
void never_replies(RankRuntime& runtime, int rank) {
  class Silent final : public Service {
    void take(Worker&, const Request&) override {}
    std::optional<Buffer> give(Worker&, const Request&) override { return std::nullopt; }
  } silent;
  Worker worker(runtime, 0, {});
  Serving serving;
  serving.begin(worker, rank == 1 ? &silent : nullptr);
  const OwnedBuffer x = worker.device.allocate(Shape::of(6, DType::f32));
  if (rank == 0) worker.start(1, [&](Worker& lane) { ask(lane, {1, 0, x, x}); }).wait();
  if (rank == 2) std::this_thread::sleep_for(std::chrono::seconds(60));
  serving.end(worker);
}

/// Rank 1 serves until the others leave, and they do not.
void never_leaves(RankRuntime& runtime, int rank) {
  class Unused final : public Service {
    void take(Worker&, const Request&) override {}
    std::optional<Buffer> give(Worker&, const Request&) override { return std::nullopt; }
  } unused;
  Worker worker(runtime, 0, {});
  Serving serving;
  serving.begin(worker, rank == 1 ? &unused : nullptr);
  if (rank != 1) std::this_thread::sleep_for(std::chrono::seconds(60));
  serving.end(worker);
}

void dies(RankRuntime& runtime, int rank) {
  if (rank == 1) raise(SIGKILL);
  wait_for_all(runtime);
}

void never_answers(RankRuntime& runtime, int rank) {
  if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(60));
  const OwnedBuffer x = runtime.lane(1).device->allocate(Shape::of(6, DType::f32));
  if (rank == 0) runtime.launch(1, [&] { runtime.lane(1).comm->exchange({Transfer::receive_from(1, x)}); }).wait();
}

/// Rank 1 leaves out an all-reduce in which the others take part, after a barrier in which all do.
void never_reduces(RankRuntime& runtime, int rank) {
  Lane& lane = runtime.lane(1);
  const OwnedBuffer x = lane.device->allocate(Shape::of(6, DType::f32));
  const auto body = [&] {
    const Timeline::ForBucket third(lane.timeline, 3);
    lane.comm->barrier();
    if (rank != 1) lane.comm->all_reduce(x, ReduceOp::sum);
  };
  runtime.launch(1, body).wait();
  if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(60));
}

/// Rank 1 leaves out an all-reduce in the middle of six, which the others then take for each other.
void leaves_a_step_out(RankRuntime& runtime, int rank) {
  Worker worker(runtime, 0, {});
  const OwnedBuffer x = worker.device.allocate(Shape::of(6, DType::f32));
  for (worker.step = 0; worker.step < 6; ++worker.step) {
    worker
        .start(1,
               [&](Worker& lane) {
                 if (rank != 1 || lane.step != 3) lane.comm.all_reduce(x, ReduceOp::sum);
               })
        .wait();
  }
}

void unequal_sizes(RankRuntime& runtime, int rank) {
  const OwnedBuffer x = runtime.lane(0).device->allocate(Shape::of(6, DType::f32));
  const Timeline::ForBucket first(runtime.lane(0).timeline, 0);
  Communicator& comm = *runtime.lane(0).comm;
  if (rank == 0) comm.exchange({Transfer::receive_from(1, x)});
  if (rank == 1) comm.exchange({Transfer::send_to(0, x.view().slice(0, 2))});
  comm.barrier();
}

/// A large send that nobody takes: after its exchange has failed, MPI may still read from memory that was given back.
void gives_back_what_is_sent(RankRuntime& runtime, int rank) {
  if (rank != 0) std::this_thread::sleep_for(std::chrono::seconds(60));
  constexpr std::int64_t count = 1 << 24;
  void* address = nullptr;
  try {
    const OwnedBuffer x = runtime.lane(0).device->allocate(Shape::of(count, DType::u8));
    address = x.view().raw();
    runtime.lane(0).comm->exchange({Transfer::send_to(1, x)});
  } catch (const BackendError&) {
    constexpr std::uintptr_t page = 4096;
    const auto inside = (reinterpret_cast<std::uintptr_t>(address) + count / 2) / page * page;
    const bool there = msync(reinterpret_cast<void*>(inside), page, MS_ASYNC) == 0;
    throw BackendError(there ? "the memory is still there" : "the memory is gone");
  }
}

void phantom(RankRuntime& runtime, int rank) {
  const Shape shape{8, DType::f32, 8, true};
  if (rank == 0) runtime.lane(0).comm->exchange({Transfer::send_to(1, Buffer(nullptr, shape))});
  wait_for_all(runtime);
}

/// Rank 1 has stopped when the others make their lanes.
void stops_before_its_lanes(RankRuntime& runtime, int) { wait_for_all(runtime); }

void stops_before_a_split(RankRuntime& runtime, int rank) {
  if (rank == 1) raise(SIGSTOP);
  runtime.lane(0).comm->split(0, rank);
}

/// Every rank has a seed of its own, so that none gets here.
void other_settings(RankRuntime&, int rank) { std::cerr << "rank " << rank << " has begun\n"; }

Scenario scenario_of(const std::string& name) {
  const std::pair<const char*, Scenario> all[] = {{"throws", throws},
                                                  {"throws_beside_a_lane", throws_beside_a_lane},
                                                  {"throws_in_a_lane", throws_in_a_lane},
                                                  {"throws_in_a_service", throws_in_a_service},
                                                  {"never_replies", never_replies},
                                                  {"never_leaves", never_leaves},
                                                  {"dies", dies},
                                                  {"never_answers", never_answers},
                                                  {"never_reduces", never_reduces},
                                                  {"leaves_a_step_out", leaves_a_step_out},
                                                  {"unequal_sizes", unequal_sizes},
                                                  {"gives_back_what_is_sent", gives_back_what_is_sent},
                                                  {"phantom", phantom},
                                                  {"other_settings", other_settings},
                                                  {"stops_before_its_lanes", stops_before_its_lanes},
                                                  {"stops_before_a_split", stops_before_a_split}};
  for (const auto& [known, scenario] : all) {
    if (name == known) return scenario;
  }
  throw UsageError("unknown scenario '" + name + "'");
}

}  // namespace
}  // namespace trigram

int main(int count, char** words) {
  return trigram::testing::exit_status([&] {
    const std::string backend = count > 2 ? words[2] : "mpi";
    const auto scenario = trigram::scenario_of(words[1]);
    // Processes come one by one on a busy machine: a short timeout is for what the scenario is about, not for their
    // start.
    const bool about_the_start = words[1] == std::string("throws");
    if (backend.starts_with("mpi") && !about_the_start) trigram::Backends::make("mpi")->default_ranks();
    const auto place = trigram::Backends::make(backend);
    trigram::World world;
    world.ranks = count > 3 ? std::stoi(words[3]) : place->default_ranks();
    const std::string name = words[1];
    if (name == "stops_before_its_lanes" && place->process_rank() == 1) raise(SIGSTOP);
    if (name == "other_settings") {
      world.configuration["seed"] = std::to_string(place->process_rank());
      world.bucket_lanes += place->process_rank();
    }
    place->run(world, [&](trigram::RankRuntime& runtime) {
      scenario(runtime, runtime.lane(0).comm->rank());
      return std::vector<std::byte>();
    });
  });
}
