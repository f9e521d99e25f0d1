// What communicators of both directions share: their requests, how they fail, and that others look after them.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "net/abi.hpp"
#include "net/clock.hpp"
#include "net/error.hpp"

namespace trigram::net {

constexpr int max_grouped = 8;  ///< receives of one request

class Comm;

/// A send, or a group of receives, on its way. Lies in its communicator. Who ends it has written its sizes before.
struct Request {
  Comm* comm = nullptr;
  std::atomic<bool> used = false;
  std::atomic<int> pending = 0;  ///< messages that are not over
  bool large = false;            ///< worth another thread
  int count = 0;
  std::array<int, max_grouped> sizes{};

  bool done() const { return pending == 0; }
};

/// What is looked after every few milliseconds, until it says that this is over. Whoever made it may have closed it
/// before.
class Serviced {
 public:
  virtual ~Serviced() = default;
  /// False: it may go.
  virtual bool tick(Clock::time_point now) = 0;
};

/// What a mover found to do.
enum class Work { nothing, waits, moved };

/// A thread that sleeps while there is nothing to do.
class Sleeper {
 public:
  virtual ~Sleeper() = default;
  /// There is something. True if it was awake, and sees it soon.
  virtual bool wake() = 0;
};

/// One direction between two peers. Any thread may call; one at a time comes in.
class Comm : public Serviced {
 public:
  Comm();

  /// Moves what can be moved, and says whether the request is over; then it is the communicator's again. Where another
  /// thread is at it, only says so. Throws Error.
  void test(Request& request, int* done, int* sizes);
  /// Large messages are moved by that one too, from now on. Before the first of them.
  void moved_by(Sleeper& mover) { mover_ = &mover; }
  /// For a mover: moves what large messages have, where no caller is at it.
  Work move();
  /// The caller is done with it, whatever is under way.
  virtual void close() = 0;

 protected:
  /// Keeps all others out. Callers go before movers.
  class Entry {
   public:
    explicit Entry(Comm& comm);

   private:
    std::unique_lock<std::mutex> lock_;
  };

  /// Whether any bytes moved.
  virtual bool progress(Clock::time_point now) = 0;

  /// None where all are in use.
  Request* take_request(int count, bool large);
  /// True where a mover is at it, so that the caller need not move anything.
  bool mover_sees_to_it();
  /// All calls from now on end like this; the first time, users hear of it.
  void fail(abi::Result code, const std::string& text);
  void throw_if_failed() const;
  bool failed() const { return failure_.has_value(); }
  bool requests_in_flight() const;
  bool any_large_in_flight() const;

  std::mutex mutex_;

 private:
  void look(const Request& request);

  std::atomic<int> callers_ = 0;  ///< that wait to come in
  Sleeper* mover_ = nullptr;
  std::array<Request, abi::max_requests> requests_;
  std::optional<Error> failure_;
};

}  // namespace trigram::net
