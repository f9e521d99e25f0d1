// RPC: one-sided requests to a rank, whose service replies while the rank trains.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/device/device.hpp"
#include "core/lane/pending.hpp"
#include "core/lane/worker.hpp"
#include "core/values/buffer.hpp"

namespace trigram {

/// A request to another rank: `request` is sent there, and the reply is written to `reply`, which may be the same
/// memory. `subject` says what it is about, as a bucket's index; it is sent along and costs nothing.
struct Ask {
  int peer;
  int subject;
  Buffer request;
  Buffer reply;
};

/// An Ask as the service of its peer gets it.
class Request {
 public:
  Request(int from, int about, OwnedBuffer bytes) : asker(from), subject(about), content(std::move(bytes)) {}
  virtual ~Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Sends the reply, once. Its bytes are taken before this returns, and may arrive later. Throws Error where the asker
  /// expects another size.
  virtual void reply(Buffer with) = 0;

  int asker;
  int subject;
  OwnedBuffer content;  ///< the request's bytes, in memory of their own
};

/// A backend's implementation of RPC for one rank: the requests that it sends, and those that it gets.
class Requests {
 public:
  virtual ~Requests() = default;
  /// On every rank, in `setup`; says whether this rank will serve.
  virtual void open(bool serves) = 0;
  /// Sends all requests together and returns when all replies have arrived. For the lane of that index only. Throws
  /// BackendError when a peer fails or the backend's timeout passes.
  virtual void ask(int lane, std::span<const Ask> asks) = 0;
  /// The same, but where the backend can go on without ranks that are gone, it leaves them out: gives those, in
  /// ascending order, whose replies did not come and mean nothing. By default it leaves nobody out.
  virtual std::vector<int> ask_those_there(int lane, std::span<const Ask> asks) {
    ask(lane, asks);
    return {};
  }
  /// Waits for the next request, in order of arrival; null once every rank has left, or is left out. For the serving
  /// lane only.
  virtual std::unique_ptr<Request> next() = 0;
  /// This rank sends no more requests.
  virtual void leave() = 0;
  /// Runs `function` while no other lane of this rank is in such a function.
  virtual void exclusively(const std::function<void()>& function) = 0;
};

/// Sends requests on the worker's lane, as one round: to a peer at most once, and never to this rank itself. Blocks the
/// lane until all have replied. Throws UsageError for a peer outside the group.
void ask(Worker& lane, std::span<const Ask> asks);
inline void ask(Worker& lane, const Ask& one) { ask(lane, std::span(&one, 1)); }
/// The same as Requests::ask_those_there; what was to be asked of those who are gone counts too.
std::vector<int> ask_those_there(Worker& lane, std::span<const Ask> asks);

/// The handler of this rank's requests. Both methods run on the serving lane, must not call `ask`, and never run at the
/// same time as a function passed to `Serving::exclusively`.
class Service {
 public:
  virtual ~Service() = default;
  /// Processes a request on arrival. Called once per request, whose content is freed afterwards.
  virtual void take(Worker& lane, const Request& request) = 0;
  /// The reply, or nothing to delay it: then it is called again after each further `take`, until it replies.
  virtual std::optional<Buffer> give(Worker& lane, const Request& request) = 0;
};

/// An algorithm's use of RPC, from `begin` to `end`, which every rank calls in `setup` and `finish`. Meanwhile a rank
/// with a service replies on its background lane, whatever its main lane does, and with overlap off too.
class Serving {
 public:
  /// Without a service this rank only sends requests, on any lane. The service must outlive this object.
  void begin(Worker& worker, Service* service = nullptr);
  /// Runs `function` on the main lane while no request is being served. Throws what a service that failed has thrown.
  void exclusively(Worker& worker, const std::function<void()>& function);
  /// This rank sends no more requests. It goes on serving until that is true of every rank.
  void end(Worker& worker);

 private:
  void serve(Worker& lane) const;

  Service* service_ = nullptr;
  Pending serving_;
};

}  // namespace trigram
