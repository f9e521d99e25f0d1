// What ranks that have waited for long tell each other, so that who gives up can name who is silent.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// One a process, for as long as it lives. Whoever waits tells all others, unasked: none could answer a question while
/// it computes, and one that is stopped never would. Lanes may call at the same time.
class Whereabouts {
 public:
  /// Of this process, made at the first call, which is collective; `timeout` as for duplicate_of_world.
  static Whereabouts& of_this_process(double timeout = 0);

  /// This rank's lane waits, as `text` says; empty: it has gone on.
  void tell(const std::string& lane, const std::string& text);
  /// What other ranks have told, a line each, and who has said nothing. `least` is how many seconds a rank waits before
  /// it tells.
  std::string of_others(double least);

  /// The operations of a communicator are counted there, for as long as `operations` is known here.
  void count(const std::string& communicator, const std::atomic<std::int64_t>* operations);
  void forget(const std::atomic<std::int64_t>* operations);
  /// "lane 1 (buckets 0, 1, ...), all ranks: 49; ..." of those that have any; empty where none has.
  std::string operations_so_far();

 private:
  explicit Whereabouts(double timeout);
  void listen();

  std::mutex mutex_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  std::deque<std::pair<std::string, std::vector<MPI_Request>>> sent_;  ///< kept, since nobody may be there to take it
  std::map<int, std::map<std::string, std::string>> told_;             ///< by rank, then lane
  std::map<const std::atomic<std::int64_t>*, std::string> counted_;
};

}  // namespace trigram::mpi
