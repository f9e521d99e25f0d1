// RPC: a rank asks another one, which answers while it is busy with something else.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/device/device.hpp"
#include "core/lane/pending.hpp"
#include "core/lane/worker.hpp"
#include "core/values/buffer.hpp"

namespace trigram {

/// What one rank wants of another: `request` goes there, and what comes back fills `reply`, which may be the same
/// memory. `subject` says what it is about, as a bucket's index; it travels along and costs nothing.
struct Ask {
  int peer;
  int subject;
  Buffer request;
  Buffer reply;
};

/// An Ask where it arrived.
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

/// What a backend brings for this: one rank's way to ask, and what is asked of it.
class Requests {
 public:
  virtual ~Requests() = default;
  /// On every rank, in `setup`; says whether this rank will serve.
  virtual void open(bool serves) = 0;
  /// Sends all requests together and returns when all replies have arrived. For the lane of that index only. Throws
  /// BackendError when a peer fails or the backend's timeout passes.
  virtual void ask(int lane, std::span<const Ask> asks) = 0;
  /// The next request, in order of arrival; null once every rank has left. For the serving lane only.
  virtual std::unique_ptr<Request> next() = 0;
  /// This rank asks nothing more.
  virtual void leave() = 0;
  /// Runs `body` while no other lane of this rank is in such a body.
  virtual void exclusively(const std::function<void()>& body) = 0;
};

/// Asks on the worker's lane, as one round: a peer at most once, and never itself. Blocks the lane until all have
/// replied. Throws UsageError for a peer that is none.
void ask(Worker& lane, std::span<const Ask> asks);
inline void ask(Worker& lane, const Ask& one) { ask(lane, std::span(&one, 1)); }

/// What a rank does for those who ask it. Both get the Worker of the serving lane, ask nobody themselves, and never run
/// beside a body of `Serving::exclusively`.
class Service {
 public:
  virtual ~Service() = default;
  /// Takes in a request as it arrives, once; its content is gone afterwards.
  virtual void take(Worker& lane, const Request& request) = 0;
  /// What to reply; nothing where it is too early, and then it is called again after the next request was taken.
  virtual std::optional<Buffer> give(Worker& lane, const Request& request) = 0;
};

/// An algorithm's part in asking: from `begin` to `end`, which every rank calls in `setup` and `finish`, a rank that
/// brings a service answers on its background lane, whatever its main lane does, and with overlap off too.
class Serving {
 public:
  /// Without a service this rank only asks, on any lane. A service outlives this.
  void begin(Worker& worker, Service* service = nullptr);
  /// Runs `body` on the main lane while no request is being served. Throws what a service that failed has thrown.
  void exclusively(Worker& worker, const std::function<void()>& body);
  /// This rank asks nothing more. It goes on serving until that is true of every rank.
  void end(Worker& worker);

 private:
  void serve(Worker& lane) const;

  Service* service_ = nullptr;
  Pending serving_;
};

}  // namespace trigram
