// Ranks that meet by MPI itself, where mpirun or srun started them; the only file here that knows MPI.
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>

#include "core/values/error.hpp"
#include "meeting/rendezvous.hpp"
#include "processes/clock.hpp"
#include "processes/last_resort.hpp"
#include "processes/mpi_library.hpp"

namespace trigram {
namespace {

using namespace mpi;

// The process that joined: a forked child is no member of the job.
pid_t member_process = 0;

/// A rank that ends badly ends the job; mpirun then ends the others.
void end_of_process(int status, void*) {
  if (getpid() != member_process) return;
  if (status == 0) {
    MPI_Finalize();
  } else {
    MPI_Abort(MPI_COMM_WORLD, status);
  }
}

/// SimGrid's library has functions of the same names, and a linker takes the first that it meets.
void require_real_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  ensure(!std::string(text.data()).starts_with("SMPI"),
         "MPI's functions are those of the simulator: the program was linked with SimGrid before MPI; link "
         "trigram::gpu first, or meet by file or tcp");
}

void initialize() {
  require_real_library();
  int running = 0;
  MPI_Initialized(&running);
  if (running != 0) return;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  member_process = getpid();
  on_exit(end_of_process, nullptr);
}

/// Failures spread by the launcher, which ends all processes when one of them does badly.
class MpiRendezvous final : public Rendezvous {
 public:
  MpiRendezvous(const Member& member, Patience patience) {
    LastResort deadline;  // what follows returns when all have come, and nobody can give it up
    if (patience.seconds > 0) {
      deadline.expect_within(patience.seconds, "rank " + std::to_string(member.rank) +
                                                   " has waited in MPI_Init_thread or MPI_Comm_dup for ranks that "
                                                   "have not come: one may be stopped, or was never started");
    }
    initialize();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    deadline.rest();
    require(ranks_ == member.ranks && rank_ == member.rank,
            member.launcher + " says that this process is rank " + std::to_string(member.rank) + " of " +
                std::to_string(member.ranks) + ", but MPI says rank " + std::to_string(rank_) + " of " +
                std::to_string(ranks_) +
                "; use the launcher that belongs to this MPI library, or rendezvous=file:PATH");
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  Parts all_gather(const Bytes& own, Patience patience) override {
    const auto n = static_cast<std::size_t>(ranks_);
    std::vector<int> counts(n);
    const int count = countable(own.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_, &request);
    wait_for(request, patience);
    std::vector<int> places(n);
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    Bytes all(static_cast<std::size_t>(countable(std::accumulate(counts.begin(), counts.end(), std::size_t{0}))));
    MPI_Iallgatherv(own.data(), count, MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE, comm_, &request);
    wait_for(request, patience);
    Parts parts;
    for (std::size_t r = 0; r < n; ++r)
      parts.emplace_back(all.begin() + places[r], all.begin() + places[r] + counts[r]);
    return parts;
  }

  Parts gather(const Bytes& own, Patience patience) override {
    Parts parts = all_gather(own, patience);
    if (rank_ != 0) parts.clear();
    return parts;
  }

  void publish(const JobFailure& failure) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
  }

  std::optional<JobFailure> failure() override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  void leave() noexcept override {}  // MPI leaves when the process ends, with its exit status
  std::string place() const override { return "mpi"; }

 private:
  static int countable(std::size_t bytes) {
    if (bytes > INT_MAX) {
      throw BackendError("MPI cannot count " + std::to_string(bytes) + " bytes; use rendezvous=file:PATH");
    }
    return static_cast<int>(bytes);
  }

  void wait_for(MPI_Request& request, Patience patience) const {
    constexpr std::chrono::microseconds nap{100};
    const double begin = seconds_now();
    int complete = 0;
    while (MPI_Test(&request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete == 0) {
      if (patience.seconds > 0 && seconds_now() - begin > patience.seconds) {
        throw BackendError("rank " + std::to_string(rank_) + " has waited " + std::to_string(patience.seconds) +
                           " s in a gather by MPI for the other " + std::to_string(ranks_ - 1) + " ranks");
      }
      std::this_thread::sleep_for(nap);
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::mutex mutex_;
  std::optional<JobFailure> failure_;
};

class MpiMeeting final : public WayToMeet {
 public:
  std::unique_ptr<Rendezvous> open(const std::string& /*where*/, const Member& member,
                                   Patience patience) const override {
    return std::make_unique<MpiRendezvous>(member, patience);
  }
};

const WaysToMeet::Registration registration("mpi", {"MPI itself, under mpirun or srun: mpi"},
                                            [](Params&) { return std::make_unique<MpiMeeting>(); });

}  // namespace
}  // namespace trigram
