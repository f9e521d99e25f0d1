// The time of an all-reduce by our ring and by the MPI library, turn by turn in one job: mpirun -n N bench_mpi [MIB].
#include <mpi.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "core/lane/worker.hpp"
#include "core/training/backend.hpp"
#include "experiments/measure/median.hpp"

namespace trigram {
namespace {

constexpr int repetitions = 11;

/// Seconds of one call, by the rank that takes longest.
template <class Call>
double seconds_of(RankRuntime& runtime, const Call& call) {
  runtime.lane(0).comm->barrier();
  const auto begin = std::chrono::steady_clock::now();
  call();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(runtime.agree(took.count(), ReduceOp::max)) * 1e-9;
}

void compare(RankRuntime& runtime, std::int64_t bytes) {
  Communicator& comm = *runtime.lane(0).comm;
  const OwnedBuffer x = comm.device().allocate(Shape::of(bytes / 4, DType::f32));
  float* values = x.view().data<float>();
  const auto count = static_cast<int>(bytes / 4);
  std::vector<double> own;
  std::vector<double> vendor;
  std::vector<double> nonblocking;
  for (int i = 0; i < repetitions; ++i) {
    own.push_back(seconds_of(runtime, [&] { comm.all_reduce(x, ReduceOp::sum); }));
    vendor.push_back(
        seconds_of(runtime, [&] { MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }));
    nonblocking.push_back(seconds_of(runtime, [&] {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }));
  }
  if (comm.rank() != 0) return;
  std::cout << comm.size() << " ranks, " << bytes << " bytes, medians of " << repetitions << ": own ring "
            << median(own) * 1e3 << " ms, MPI_Allreduce " << median(vendor) * 1e3 << " ms, MPI_Iallreduce "
            << median(nonblocking) * 1e3 << " ms; MPI_Allreduce / own = " << median(vendor) / median(own) << "\n";
}

}  // namespace
}  // namespace trigram

int main(int count, char** words) {
  const std::int64_t mebibytes = count > 1 ? std::stoll(words[1]) : 64;
  const auto backend = trigram::Backends::make("mpi");
  trigram::World world;
  world.ranks = backend->default_ranks();
  backend->run(world, [&](trigram::RankRuntime& runtime) {
    trigram::compare(runtime, mebibytes << 20);
    return std::vector<std::byte>();
  });
  return 0;
}
