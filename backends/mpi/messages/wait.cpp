#include "backends/mpi/messages/wait.hpp"

#include <chrono>
#include <sstream>

#include "backends/mpi/check.hpp"
#include "backends/mpi/messages/memory.hpp"
#include "backends/mpi/whereabouts.hpp"
#include "core/values/error.hpp"
#include "processes/interruption.hpp"
#include "processes/nap.hpp"

namespace trigram::mpi {
namespace {

using Steady = std::chrono::steady_clock;

/// How long a wait may last after another lane of this rank has failed: peers may still complete it.
constexpr std::chrono::seconds grace{1};

/// After such a time of waiting somebody asks whether others have ended, and again after each.
constexpr std::chrono::milliseconds worth_asking{500};

constexpr std::size_t open_requests_shown = 8;

bool is_open(MPI_Request request) {
  int complete = 0;
  if (request != MPI_REQUEST_NULL) MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
  return request != MPI_REQUEST_NULL && complete == 0;
}

/// Throws where an open request waits for a rank that takes no further step.
void require_peers(std::span<MPI_Request> requests, const LaneContext& lane, const Subject& subject) {
  if (lane.endings == nullptr || !subject.ranks) return;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_open(requests[i])) continue;
    for (const int rank : subject.ranks(i)) {
      if (const std::string why = lane.endings->why_silent(rank); !why.empty())
        throw BackendError(subject.operation() + " waits in vain for rank " + std::to_string(rank) + ", " + why);
    }
  }
}

[[noreturn]] void throw_stuck(std::span<MPI_Request> requests, const LaneContext& lane, const Subject& subject) {
  std::ostringstream text;
  text << subject.operation() << " has waited " << lane.timeout << " s for:";
  std::size_t open = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_open(requests[i])) continue;
    if (++open <= open_requests_shown) text << (open == 1 ? " " : ", ") << subject.request(i);
  }
  if (open > open_requests_shown) text << " and " << open - open_requests_shown << " more";
  Whereabouts& whereabouts = Whereabouts::of_this_process();
  text << "; operations of this rank so far: " << whereabouts.operations_so_far()
       << whereabouts.of_others(lane.timeout / 2);
  throw BackendError(text.str());
}

[[noreturn]] void throw_reported(std::span<const MPI_Status> statuses, int code, const Subject& subject) {
  for (std::size_t i = 0; code == MPI_ERR_IN_STATUS && i < statuses.size(); ++i) {
    const int error = statuses[i].MPI_ERROR;
    if (error == MPI_SUCCESS || error == MPI_ERR_PENDING) continue;
    int error_class = error;
    MPI_Error_class(error, &error_class);
    if (error_class == MPI_ERR_TRUNCATE) {
      throw Error(subject.operation() + ": more arrived than fits into " + subject.request(i) +
                  "; both ends must name the same size");
    }
    check(error, subject.operation() + ", " + subject.request(i));
  }
  check(code, subject.operation());
  throw BackendError(subject.operation() + " failed without a reason");
}

/// Tells the other ranks, once, of a wait that has lasted for half of what it may.
class Telling {
 public:
  Telling(const LaneContext& lane, const Subject& subject) : lane_(lane), subject_(subject) {}
  ~Telling() {
    try {
      if (told_ && !lane_.failure.raised()) Whereabouts::of_this_process().tell(lane_.name, "");
    } catch (const BackendError&) {
      return;  // whoever waits next learns of it
    }
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

  void look(Steady::duration waited) {
    if (told_ || lane_.timeout <= 0 || waited < std::chrono::duration<double>(lane_.timeout / 2)) return;
    told_ = true;
    Whereabouts& whereabouts = Whereabouts::of_this_process();
    whereabouts.tell(lane_.name,
                     subject_.operation() + " (operations so far: " + whereabouts.operations_so_far() + ")");
  }

 private:
  const LaneContext& lane_;
  const Subject& subject_;
  bool told_ = false;
};

}  // namespace

std::vector<MPI_Status> wait_all(std::span<MPI_Request> requests, const LaneContext& lane, const Subject& subject) {
  std::vector<MPI_Status> statuses(requests.size());
  const Steady::time_point begin = Steady::now();
  Telling telling(lane, subject);
  Steady::duration ask_after = worth_asking;
  while (true) {
    int complete = 0;
    const int code = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &complete, statuses.data());
    if (code != MPI_SUCCESS) throw_reported(statuses, code, subject);
    if (complete != 0) return statuses;
    const Steady::duration waited = Steady::now() - begin;
    if (lane.timeout > 0 && waited > std::chrono::duration<double>(lane.timeout)) throw_stuck(requests, lane, subject);
    if (waited > grace && lane.failure.raised()) lane.failure.rethrow();
    if (waited > ask_after) {
      ask_after = waited + worth_asking;
      require_peers(requests, lane, subject);
    }
    require_no_interruption();
    telling.look(waited);
    nap(waited);
  }
}

void abandon(MPI_Request& request, bool receive) {
  if (request == MPI_REQUEST_NULL) return;
  if (receive) MPI_Cancel(&request);
  int ended = 0;
  MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
  if (ended != 0) return;
  keep_memory();
  MPI_Request_free(&request);
}

}  // namespace trigram::mpi
