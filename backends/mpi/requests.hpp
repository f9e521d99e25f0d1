// Messages without appointment between processes: a serving rank takes whatever comes first.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/service.hpp"
#include "processes/lane_context.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// One rank's end. A request is an envelope, which any rank may have sent, and its bytes; the reply finds the asking
/// lane by a tag. Has communicators of its own once it was opened, and none in a run that asks nothing.
class MpiRequests final : public Requests {
 public:
  /// The contexts of a lane and of the serving lane outlive this.
  using ContextOfLane = std::function<const LaneContext&(int lane)>;
  MpiRequests(ContextOfLane context, int serving_lane, double timeout, Failure& failure);
  ~MpiRequests() override;
  MpiRequests(const MpiRequests&) = delete;
  MpiRequests& operator=(const MpiRequests&) = delete;

  void open(bool serves) override;
  void ask(int lane, std::span<const Ask> asks) override;
  std::unique_ptr<Request> next() override;
  void leave() override;
  void exclusively(const std::function<void()>& body) override;

 private:
  struct Envelope;
  class Flight;
  class Asked;
  std::string describe(const LaneContext& lane, const char* operation) const;

  ContextOfLane context_;
  int serving_lane_;
  double timeout_;
  Failure& failure_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 0;
  std::vector<int> serving_;  ///< ranks
  int left_ = 0;              ///< ranks that ask nothing more
  bool ending_ = false;       ///< this rank is one of them
  std::mutex sending_;        ///< so that an envelope and its bytes follow each other
  std::mutex guard_;
  std::deque<std::unique_ptr<Flight>> replies_;  ///< under way; of the serving lane
};

}  // namespace trigram::mpi
