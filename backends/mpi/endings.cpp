#include "backends/mpi/endings.hpp"

#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "backends/mpi/check.hpp"
#include "backends/mpi/duplicate.hpp"
#include "core/values/error.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {
namespace {

/// What a rank sends when it ends.
struct End {
  static constexpr int bytes = 2 * sizeof(std::int64_t);
  std::int64_t run, steps;
};

/// A message under way, whose memory stays until it has left.
struct Sent {
  End end;
  std::vector<MPI_Request> requests;

  bool left() {
    int all = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  }
};

/// The ends of all runs of this process, on one communicator that lives as long: a run's own, freed when it has ended,
/// could leave messages behind to whichever gets its number next.
class Ends {
 public:
  /// The first call is collective.
  static Ends& of_this_process(double timeout = 0) {
    static auto* const one = new Ends(timeout);  // what was sent may be under way when the process ends
    return *one;
  }

  std::int64_t begin_run() {
    const std::lock_guard lock(mutex_);
    listen();  // what the last runs have left
    steps_.try_emplace(++runs_);
    return runs_;
  }

  void forget_run(std::int64_t run) {
    const std::lock_guard lock(mutex_);
    steps_.erase(run);
  }

  void tell(const End& end) {
    const std::lock_guard lock(mutex_);
    sent_.remove_if([](Sent& sent) { return sent.left(); });
    Sent& sent = sent_.emplace_back(Sent{end, {}});
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == rank_) continue;
      MPI_Request& request = sent.requests.emplace_back(MPI_REQUEST_NULL);
      check(MPI_Isend(&sent.end, End::bytes, MPI_BYTE, rank, 0, comm_, &request), "MPI_Isend");
    }
  }

  std::optional<std::int64_t> steps_at_end(std::int64_t run, int rank) {
    const std::lock_guard lock(mutex_);
    listen();
    const auto& told = steps_.at(run);
    const auto found = told.find(rank);
    return found == told.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  explicit Ends(double timeout) : comm_(duplicate_of_world(timeout)) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
  }

  void listen() {
    for (;;) {
      int there = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, &status), "MPI_Iprobe");
      if (there == 0) return;
      End end{};
      check(MPI_Recv(&end, End::bytes, MPI_BYTE, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
      if (const auto run = steps_.find(end.run); run != steps_.end()) run->second[status.MPI_SOURCE] = end.steps;
    }
  }

  std::mutex mutex_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  std::int64_t runs_ = 0;
  std::list<Sent> sent_;
  std::map<std::int64_t, std::map<int, std::int64_t>> steps_;  ///< of runs that go on, by rank
};

}  // namespace

ToldEndings::ToldEndings(double timeout) : run_(Ends::of_this_process(timeout).begin_run()) {}

ToldEndings::~ToldEndings() { Ends::of_this_process().forget_run(run_); }

void ToldEndings::tell(std::int64_t steps) noexcept {
  try {
    Ends::of_this_process().tell({run_, steps});
  } catch (const BackendError&) {
    return;  // the job is gone, of which all ranks learn by themselves
  }
}

std::optional<std::int64_t> ToldEndings::steps_at_end(int rank) {
  return Ends::of_this_process().steps_at_end(run_, rank);
}

}  // namespace trigram::mpi
