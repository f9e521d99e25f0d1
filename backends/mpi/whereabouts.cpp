#include "backends/mpi/whereabouts.hpp"

#include <chrono>
#include <thread>

#include "backends/mpi/check.hpp"
#include "backends/mpi/duplicate.hpp"
#include "core/values/error.hpp"

namespace trigram::mpi {
namespace {

constexpr char between = '\n';  ///< a lane and its text
/// Short messages leave at once, whether somebody receives them or not.
constexpr std::size_t longest = 1000;

}  // namespace

Whereabouts& Whereabouts::of_this_process(double timeout) {
  static auto* const one = new Whereabouts(timeout);  // what was sent may be under way when the process ends
  return *one;
}

Whereabouts::Whereabouts(double timeout) : comm_(duplicate_of_world(timeout)) {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

void Whereabouts::tell(const std::string& lane, const std::string& text) {
  const std::lock_guard lock(mutex_);
  auto& [message, requests] =
      sent_.emplace_back((lane + between + text).substr(0, longest), std::vector<MPI_Request>());
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_) continue;
    check(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, rank, 0, comm_,
                    &requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
}

void Whereabouts::listen() {
  for (;;) {
    int there = 0, size = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, &status), "MPI_Iprobe");
    if (there == 0) return;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::string message(static_cast<std::size_t>(size), ' ');
    check(MPI_Recv(message.data(), size, MPI_BYTE, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    const std::size_t end = message.find(between);
    told_[status.MPI_SOURCE][message.substr(0, end)] = message.substr(end + 1);
  }
}

std::string Whereabouts::of_others(double least) {
  constexpr int most = 16, looks = 50;
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < looks; ++i) {  // what is there may need some before it is seen
    listen();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::string waiting, silent;
  int waiters = 0, silents = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    std::string lanes;
    for (const auto& [lane, text] : told_[rank]) lanes += text.empty() ? "" : "\n  " + text + " has waited too";
    if (rank == rank_) continue;
    if (!lanes.empty() && ++waiters <= most) waiting += lanes;
    if (lanes.empty() && ++silents <= most) silent += (silents > 1 ? ", " : "") + std::to_string(rank);
  }
  if (waiters > most) waiting += "\n  and lanes of " + std::to_string(waiters - most) + " more ranks";
  if (silents == 0) return waiting;
  return waiting + "\n  nothing was heard of rank " + silent +
         (silents > most ? " and " + std::to_string(silents - most) + " more" : "") +
         ": it computes, is stopped or gone, or has waited for less than " + number_text(least) + " s";
}

void Whereabouts::count(const std::string& communicator, const std::atomic<std::int64_t>* operations) {
  const std::lock_guard lock(mutex_);
  counted_[operations] = communicator;
}

void Whereabouts::forget(const std::atomic<std::int64_t>* operations) {
  const std::lock_guard lock(mutex_);
  counted_.erase(operations);
}

std::string Whereabouts::operations_so_far() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::int64_t> counts;
  for (const auto& [operations, communicator] : counted_) counts[communicator] += *operations;
  std::string text;
  for (const auto& [communicator, count] : counts) {
    if (count > 0) text += (text.empty() ? "" : "; ") + communicator + ": " + std::to_string(count);
  }
  return text;
}

}  // namespace trigram::mpi
