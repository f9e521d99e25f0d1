// An end to calls of MPI that have none of their own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace trigram::mpi {

/// While it lives, its thread is in a call that returns when all ranks have made it, and that nobody can give up:
/// MPI_Init_thread, MPI_Comm_dup, MPI_Comm_split, MPI_Finalize. If that takes longer than `seconds` (0: forever), the
/// process says so on standard error and ends with exit code 1, which ends the job.
class Deadline {
 public:
  Deadline(std::string call, double seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  void watch();

  const std::string call_;
  const double seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace trigram::mpi
