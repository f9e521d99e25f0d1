#include "backends/sim/communicator/requests.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/sim/communicator/parts.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "backends/sim/engine/simgrid_version.hpp"
#include "backends/sim/simulation.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

namespace {

OwnedBuffer copy_of(Device& device, const Buffer& buffer) {
  OwnedBuffer copy = device.allocate_unfilled(buffer.shape());
  if (buffer.bytes() > 0) std::memcpy(copy.view().raw(), buffer.raw(), static_cast<std::size_t>(buffer.bytes()));
  return copy;
}

/// Counts a message and lets it start.
Flow start_message(Simulation& simulation, int from, int to, const Buffer& buffer) {
  const double overhead = simulation.platform().message_overhead(from, to);
  if (overhead > 0) sg::this_actor::sleep_for(overhead);
  simulation.traffic().count(from, to, buffer.modelled_bytes());
  return simulation.network().start({from, to, buffer.modelled_bytes()});
}

/// Its flow has ended on links.
void await_end(Simulation& simulation, int from, int to, const Flow& flow) {
  if (flow.through > simulation.now()) sg::this_actor::sleep_until(flow.through);
  simulation.network().ended({from, to, 0}, simulation.now());
}

class SimRequest final : public Request {
 public:
  SimRequest(Simulation& simulation, int rank, std::shared_ptr<Sent> sent)
      : Request(sent->asker, sent->ask->subject, std::move(sent->content)),
        simulation_(simulation),
        rank_(rank),
        sent_(std::move(sent)) {}

  void reply(Buffer with) override {
    // An asker that is gone has freed its memory; when a rank has failed, all end in this instant.
    if (sent_->ask == nullptr || simulation_.failures().failing()) return;
    const Buffer to = sent_->ask->reply;
    ensure(
        same_size(with, to), "rank ", rank_, " replies ", [&] { return size_text(with); }, " where rank ", asker,
        " expects ", [&] { return size_text(to); }, "; both ends of a message must agree");
    copy_bytes(with, to);
    blocking([&] {
      sent_->reply = start_message(simulation_, rank_, asker, with);
      sent_->replied->release();
    });
  }

 private:
  Simulation& simulation_;
  int rank_;
  std::shared_ptr<Sent> sent_;
};

}  // namespace

/// One call's requests. When it ends early, whoever replies later finds nobody.
class SimRequests::Asking {
 public:
  Asking(SimRequests& end, int lane, std::span<const Ask> asks)
      : simulation_(end.simulation_),
        ends_(end.ends_),
        rank_(end.rank_),
        op_(simulation_.watch().op(rank_, lane)),
        since_(simulation_.now()) {
    Device& device = *end.runtime_.lane(lane).device;
    const auto replied = sg::Semaphore::create(0);
    for (const Ask& one : asks) {
      simulation_.failures().require_alive(rank_, one.peer);
      if (simulation_.losses().has_missed(rank_, one.peer)) {
        gone_.insert(one.peer);
        continue;
      }
      sent_.push_back(std::make_shared<Sent>(Sent{rank_, &one, copy_of(device, one.request), replied, {}, {}}));
      requests_.push_back(Transfer::send_to(one.peer, one.request));
      replies_.push_back(Transfer::receive_from(one.peer, one.reply));
    }
  }
  ~Asking() {
    for (const auto& one : sent_) {
      one->ask = nullptr;
      if (!ended_ && one->reply.comm != nullptr) one->reply.comm.detach();
    }
    for (sg::CommPtr& one : flows_) one.detach();  // nobody's from now on, as what an exchange withdraws
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  void send() {
    Blocked blocked(simulation_.watch(), op_, "ask", simulation_.all_ranks().everybody(), requests_);
    std::vector<std::shared_ptr<Sent>> under_way = sent_;
    for (const auto& one : under_way) {
      one->request = start_message(simulation_, rank_, one->ask->peer, one->ask->request);
      flows_.push_back(one->request.comm);
    }
    while (!flows_.empty()) {
      const Ask& oldest = *under_way.front()->ask;
      blocked.awaits(Transfer::send_to(oldest.peer, oldest.request), flows_.size() - 1);
      const std::size_t first = finished(under_way);
      const std::shared_ptr<Sent> there = under_way[first];
      flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(first));
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(first));
      await_end(simulation_, rank_, there->ask->peer, there->request);
      ends_[static_cast<std::size_t>(there->ask->peer)]->arrive(there);
    }
  }

  void receive() {
    Blocked blocked(simulation_.watch(), op_, "ask", simulation_.all_ranks().everybody(), replies_);
    for (std::size_t open = sent_.size(); open > 0;) {
      const auto first = std::ranges::find_if(sent_, [](const auto& one) { return one->reply.comm == nullptr; });
      if (first != sent_.end())
        blocked.awaits(Transfer::receive_from((*first)->ask->peer, (*first)->ask->reply), open - 1);
      const Standstill::Rest rest(simulation_.watch().standstill());
      open -= acquire_until(sent_.front()->replied, wait_ends()) ? 1 : give_up();
    }
    for (const auto& one : sent_) {
      if (gone_.contains(one->ask->peer)) continue;
      blocked.awaits(Transfer::receive_from(one->ask->peer, one->ask->reply), 0);
      if (has_come(*one)) {
        await_end(simulation_, one->ask->peer, rank_, one->reply);
      } else {
        miss(*one);
      }
    }
    ended_ = true;
  }
  const std::set<int>& gone() const { return gone_; }

 private:
  /// Until when there may be a reply, of one that is asked.
  double wait_ends(const Sent& one) const { return simulation_.losses().wait_ends(rank_, one.ask->peer, since_); }
  /// Of the first one that will not reply.
  double wait_ends() const {
    double ends = std::numeric_limits<double>::infinity();
    for (const auto& one : sent_) {
      if (one->reply.comm == nullptr && !gone_.contains(one->ask->peer)) ends = std::min(ends, wait_ends(*one));
    }
    return ends;
  }
  /// How many have been waited for in vain.
  std::size_t give_up() {
    const std::size_t before = gone_.size();
    const double ended = wait_ends();
    for (const auto& one : sent_) {
      if (one->reply.comm == nullptr && wait_ends(*one) <= ended) miss(*one);
    }
    return gone_.size() - before;
  }

  void miss(const Sent& one) {
    if (wait_ends(one) > simulation_.now()) sg::this_actor::sleep_until(wait_ends(one));
    gone_.insert(one.ask->peer);
    simulation_.losses().miss(rank_, one.ask->peer);
  }

  /// A reply that was begun; false where who gave it is lost.
  bool has_come(Sent& one) {
    try {
      one.reply.comm->wait();
      return true;
    } catch (const simgrid::Exception& error) {
      if (!is_lost(one.ask->peer)) throw_lost(one.ask->peer, error);
    }
    one.reply.comm.detach();
    return false;
  }

  bool is_lost(int peer) const { return simulation_.failures().dead(peer) && simulation_.losses().includes(peer); }

  /// The place of the flow that ends first.
  std::size_t finished(const std::vector<std::shared_ptr<Sent>>& under_way) {
    try {
      return wait_for_any(flows_);
    } catch (const simgrid::Exception& error) {
      const auto failed =
          std::ranges::find_if(flows_, [](const auto& one) { return one->get_state() == sg::Activity::State::FAILED; });
      const auto place = failed == flows_.end() ? 0 : static_cast<std::size_t>(failed - flows_.begin());
      // Where it goes nobody replies.
      if (is_lost(under_way[place]->ask->peer)) return place;
      throw_lost(under_way[place]->ask->peer, error);
    }
  }

  [[noreturn]] void throw_lost(int peer, const simgrid::Exception& error) const {
    simulation_.failures().require_alive(rank_, peer);
    const bool link = dynamic_cast<const simgrid::NetworkFailureException*>(&error) != nullptr;
    throw BackendError(simulation_.failures().lost(rank_, peer, link ? "a link between them failed" : error.what()));
  }

  Simulation& simulation_;
  Ends& ends_;
  int rank_;
  BlockedOp& op_;
  double since_;
  std::set<int> gone_;  ///< planned losses, which were missed
  std::vector<std::shared_ptr<Sent>> sent_;
  std::vector<Transfer> requests_, replies_;
  std::vector<sg::CommPtr> flows_;  ///< of requests
  bool ended_ = false;
};

SimRequests::SimRequests(Simulation& simulation, Ends& ends, RankRuntime& runtime, int rank)
    : simulation_(simulation), ends_(ends), runtime_(runtime), rank_(rank) {
  ends_.resize(static_cast<std::size_t>(simulation.ranks()));
  ends_[static_cast<std::size_t>(rank)] = this;
}

void SimRequests::ask(int lane, std::span<const Ask> asks) {
  const std::set<int> gone = ask_all(lane, asks);
  if (!gone.empty()) throw BackendError(Failures::lost(rank_, *gone.begin(), "its host failed"));
}

std::vector<int> SimRequests::ask_those_there(int lane, std::span<const Ask> asks) {
  const std::set<int> gone = ask_all(lane, asks);
  return {gone.begin(), gone.end()};
}

std::set<int> SimRequests::ask_all(int lane, std::span<const Ask> asks) {
  std::set<int> gone;
  blocking([&] {
    Asking asking(*this, lane, asks);
    asking.send();
    asking.receive();
    gone = asking.gone();
  });
  return gone;
}

void SimRequests::arrive(std::shared_ptr<Sent> sent) {
  arrived_.push_back(std::move(sent));
  wake();
}

void SimRequests::wake() {
  if (std::exchange(waits_, false)) blocking([&] { more_->release(); });
}

std::unique_ptr<Request> SimRequests::next() {
  const int lane = simulation_.layout().background();
  const Blocked idle(simulation_.watch().op(rank_, lane), "serve", simulation_.all_ranks().everybody(),
                     Blocked::patient);
  while (arrived_.empty() && !simulation_.failures().all_left()) {
    simulation_.failures().require_askers_alive(rank_);
    waits_ = true;
    const Standstill::Rest rest(simulation_.watch().standstill());
    blocking([&] { more_->acquire(); });
  }
  if (arrived_.empty()) return nullptr;
  const std::shared_ptr<Sent> first = std::move(arrived_.front());
  arrived_.pop_front();
  if (first->ask == nullptr) return next();  // its asker is gone
  return std::make_unique<SimRequest>(simulation_, rank_, first);
}

// Once nobody asks any more, who waits for requests goes on.
void SimRequests::leave() {
  simulation_.failures().leave(rank_);
  if (!simulation_.failures().all_left()) return;
  for (SimRequests* end : ends_) end->wake();
}

void SimRequests::exclusively(const std::function<void()>& body) {
  {
    const Standstill::Rest rest(simulation_.watch().standstill());
    blocking([&] { guard_->lock(); });
  }
  std::exception_ptr error;
  try {
    body();
  } catch (const simgrid::ForcefulKillException&) {
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  blocking([&] { guard_->unlock(); });
  if (error) std::rethrow_exception(error);
}

}  // namespace trigram::sim
