// A program that enters as a rank: guest_job multiple|single, where it starts and ends MPI itself, gone, where rank 1
// does not leave, or fails, where rank 1 says nothing of its failure.
#include <mpi.h>

#include <iostream>
#include <string>
#include <thread>

#include "core/lane/worker.hpp"
#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "tests/support/exit_status.hpp"

namespace trigram {
namespace {

/// The rank lives on a thread that is not the one that started MPI.
void enter_and_leave(const std::string& way) {
  const auto backend = Backends::make("mpi:timeout=20s");
  World world;
  world.ranks = backend->default_ranks();
  const auto rank = backend->enter(world);
  std::thread([&] {
    Communicator& comm = *rank->runtime().lane(0).comm;
    const OwnedBuffer one = comm.device().allocate(Shape::of(1, DType::f32));
    comm.device().fill(one, 1);
    comm.all_reduce(one, ReduceOp::sum);
    ensure(one.view().data<float>()[0] == static_cast<float>(world.ranks), "ranks do not add up");
    if (way == "fails" && comm.rank() == 1) return rank->fail(std::make_exception_ptr(Error("the flux is 7")));
    if (way != "gone" || comm.rank() != 1) rank->leave({});
  }).join();
}

}  // namespace
}  // namespace trigram

int main(int count, char** words) {
  const std::string way = count > 1 ? words[1] : "multiple";
  const bool goes = way == "gone" || way == "fails";
  int provided = 0;
  if (!goes) MPI_Init_thread(nullptr, nullptr, way == "single" ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  const int status = trigram::testing::exit_status([&] { trigram::enter_and_leave(way); });
  if (status == 0 && !goes) MPI_Finalize();
  if (status == 0) std::cout << "the guest has left\n";
  return status;
}
