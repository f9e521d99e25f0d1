#include "backends/mpi/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "backends/mpi/bootstrap.hpp"
#include "backends/mpi/check.hpp"
#include "backends/mpi/deadline.hpp"
#include "backends/mpi/whereabouts.hpp"
#include "core/values/error.hpp"
#include "processes/last_resort.hpp"
#include "processes/mpi_library.hpp"
#include "processes/nap.hpp"

namespace trigram::mpi {
namespace {

// The process that joined: a forked child is no member of the job.
pid_t member = 0;
// Whether MPI was started here, and so is ended here.
bool started_here = false;
// Whether others may be waiting for a rank that is no more.
bool lost = false;

void leave(int status, void*) {
  int ended = 0;
  if (getpid() != member || MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
  if (status != 0) {
    MPI_Abort(MPI_COMM_WORLD, status);
  } else if (lost) {
    write_line("trigram: this process ends the job, since its rank failed, or was gone before it had left");
    MPI_Abort(MPI_COMM_WORLD, 1);
  } else if (started_here) {
    MPI_Finalize();
  }
}

/// Gives the level of threads. Somebody else in this process may have started MPI, and may end it too.
int start(double timeout) {
  int provided = MPI_THREAD_SINGLE;
  int started = 0;
  check(MPI_Initialized(&started), "MPI_Initialized");
  if (started != 0) {
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
    require(provided == MPI_THREAD_MULTIPLE,
            "MPI was started in this process without MPI_THREAD_MULTIPLE, which lanes need; start it with "
            "MPI_Init_thread and that level, or leave it to Trigram");
    return provided;
  }
  const Deadline deadline("MPI_Init_thread", timeout);
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  started_here = true;
  return provided;
}

void initialize(double timeout) {
  const int provided = start(timeout);
  member = getpid();
  on_exit(leave, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  require(provided == MPI_THREAD_MULTIPLE,
          "this MPI library was built without MPI_THREAD_MULTIPLE, which lanes need; use one that has it, as Debian's "
          "Open MPI");
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

/// SimGrid's library has functions of the same names, and a linker takes the first that it meets.
void require_real(const std::string& library) {
  ensure(!library.starts_with("SMPI"), "MPI's functions are those of ", library,
         ", the simulator's own: the program was linked with SimGrid before MPI; link trigram::mpi first");
}

/// The lowest rank of every rank's node names the node; then names become numbers.
std::vector<int> find_nodes(int rank, int ranks, double timeout) {
  const Deadline deadline("MPI_Comm_split_type", timeout);
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int first = rank;
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  MPI_Comm_free(&node);
  std::vector<int> firsts(static_cast<std::size_t>(ranks));
  check(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
  std::vector<int> sorted = firsts;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (int& name : firsts) name = static_cast<int>(std::ranges::lower_bound(sorted, name) - sorted.begin());
  return firsts;
}

}  // namespace

Session& Session::join(double timeout) {
  static Session session(timeout);
  return session;
}

void Session::mark_lost() { lost = true; }

Session::Session(double timeout) : library_(library_version()) {
  require_real(library_);
  initialize(timeout);
  nap_precisely();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  const Launch launch = launch_from_environment();
  launcher_ = launch.launcher.empty() ? "none" : launch.launcher;
  require(launch.processes == 0 || launch.processes == ranks_,
          launcher_ + " started " + std::to_string(launch.processes) + " processes, but " + library_ + " sees " +
              std::to_string(ranks_) + "; use the launcher that belongs to this MPI library");
  node_of_rank_ = find_nodes(rank_, ranks_, timeout);
  Whereabouts::of_this_process(timeout);
}

}  // namespace trigram::mpi
