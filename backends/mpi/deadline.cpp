#include "backends/mpi/deadline.hpp"

#include <unistd.h>

#include <chrono>
#include <sstream>

#include "backends/mpi/bootstrap.hpp"

namespace trigram::mpi {
namespace {

/// "trigram: rank 2 has waited 300 s in MPI_Comm_dup for ranks that did not come"
std::string farewell(const std::string& call, double seconds) {
  const int rank = launch_from_environment().rank;
  std::ostringstream text;
  text << "trigram: " << (rank < 0 ? "this process" : "rank " + std::to_string(rank)) << " has waited " << seconds
       << " s in " << call << " for ranks that have not come: one may be stopped, or was never started\n";
  return text.str();
}

}  // namespace

Deadline::Deadline(std::string call, double seconds) : call_(std::move(call)), seconds_(seconds) {
  constexpr double forever = 1e9;  // clocks count nanoseconds in 64 bits
  if (seconds_ > 0 && seconds_ < forever) watcher_ = std::thread([this] { watch(); });
}

Deadline::~Deadline() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  watcher_.join();
}

void Deadline::watch() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::duration<double>(seconds_), [this] { return over_; })) return;
  const std::string text = farewell(call_, seconds_);
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  // MPI_Abort may wait for the very call that hangs; the launcher ends the job when a process ends badly.
  _exit(1);
}

}  // namespace trigram::mpi
