// What communicators of both directions share: their requests, how they fail, and that others look after them.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>

#include "net/abi.hpp"
#include "net/clock.hpp"
#include "net/error.hpp"

namespace trigram::net {

constexpr int max_grouped = 8;  ///< receives of one request

class Comm;

/// A send, or a group of receives, on its way. Lies in its communicator.
struct Request {
  Comm* comm = nullptr;
  bool used = false;
  int pending = 0;  ///< messages that are not over
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

/// One direction between two peers. Any thread may call; one at a time comes in.
class Comm : public Serviced {
 public:
  Comm();

  /// Moves what can be moved, and says whether the request is over; then it is the communicator's again. Throws Error.
  void test(Request& request, int* done, int* sizes);
  /// The caller is done with it, whatever is under way.
  virtual void close() = 0;

 protected:
  virtual void progress(Clock::time_point now) = 0;

  /// None where all are in use.
  Request* take_request(int count);
  /// All calls from now on end like this; the first time, users hear of it.
  void fail(abi::Result code, const std::string& text);
  void throw_if_failed() const;
  bool failed() const { return failure_.has_value(); }
  bool requests_in_flight() const;

  std::mutex mutex_;

 private:
  std::array<Request, abi::max_requests> requests_;
  std::optional<Error> failure_;
};

}  // namespace trigram::net
