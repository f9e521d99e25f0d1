#include "core/lane/service.hpp"

#include <set>
#include <vector>

#include "core/values/error.hpp"

namespace trigram {
namespace {

/// A request as a service sees it, whose askers are ranks of its data-parallel group, on that of the backend, which
/// counts all.
class FromLine final : public Request {
 public:
  FromLine(int asker_in_line, std::unique_ptr<Request> request)
      : Request(asker_in_line, request->subject, std::move(request->content)), request_(std::move(request)) {}
  void reply(Buffer with) override { request_->reply(with); }

 private:
  std::unique_ptr<Request> request_;
};

/// A peer, counted among all ranks.
int among_all(const Worker& lane, int peer) { return lane.mesh().at(Mesh::data, peer, lane.runtime().rank()); }

/// A rank of all, counted in its data-parallel group.
int in_line(const RankRuntime& runtime, int rank) { return runtime.map().mesh().coordinate(Mesh::data, rank); }

void count_leaving(Worker& lane, int peer, std::int64_t bytes) {
  const RankMap& map = lane.runtime().map();
  if (map.node_of(among_all(lane, peer)) == map.node_of(lane.runtime().rank())) return;
  lane.runtime().lane(lane.lane).meter.add_to_other_nodes(bytes);
}

std::vector<Ask> among_all(const Worker& lane, std::span<const Ask> asks) {
  std::vector<Ask> all(asks.begin(), asks.end());
  for (Ask& one : all) one.peer = among_all(lane, one.peer);
  return all;
}

std::unique_ptr<Request> next_request(RankRuntime& runtime) {
  std::unique_ptr<Request> request = runtime.requests().next();
  if (request == nullptr) return nullptr;
  const int asker = in_line(runtime, request->asker);
  return std::make_unique<FromLine>(asker, std::move(request));
}

/// Counts it as a round, and gives the number of bytes to others.
std::int64_t counted(Worker& lane, std::span<const Ask> asks) {
  Cost cost{1, 0};
  std::set<int> peers;
  for (const Ask& one : asks) {
    require(one.peer >= 0 && one.peer < lane.world_size(), "rank ", one.peer, " is no rank of a group of ",
            lane.world_size(), "; ranks count from 0");
    ensure(one.peer != lane.rank(), "rank ", lane.runtime().rank(), " asks itself; only others answer");
    ensure(peers.insert(one.peer).second, "rank ", lane.runtime().rank(), " asks rank ", among_all(lane, one.peer),
           " twice at once; a peer is asked once");
    cost.bytes += one.request.modelled_bytes();
    count_leaving(lane, one.peer, one.request.modelled_bytes());
  }
  lane.runtime().lane(lane.lane).meter.add(cost);
  return cost.bytes;
}

}  // namespace

void ask(Worker& lane, std::span<const Ask> asks) {
  if (asks.empty()) return;
  const Timeline::Scope wire(lane.timeline, Activity::wire, "ask", counted(lane, asks));
  lane.runtime().requests().ask(lane.lane, among_all(lane, asks));
}

std::vector<int> ask_those_there(Worker& lane, std::span<const Ask> asks) {
  if (asks.empty()) return {};
  const Timeline::Scope wire(lane.timeline, Activity::wire, "ask", counted(lane, asks));
  std::vector<int> gone = lane.runtime().requests().ask_those_there(lane.lane, among_all(lane, asks));
  for (int& peer : gone) peer = in_line(lane.runtime(), peer);
  return gone;
}

void Serving::begin(Worker& worker, Service* service) {
  service_ = service;
  worker.runtime().requests().open(service != nullptr);
  if (service == nullptr) return;
  // With overlap off it is no task in place, which would never return.
  serving_ = worker.runtime().launch(
      worker.background_lane(), [this, lane = Worker(worker.runtime(), worker.background_lane(), worker.relaxation)] {
        Worker own = lane;
        own.say_where(Worker::before_the_first_step);
        serve(own);
      });
}

void Serving::exclusively(Worker& worker, const std::function<void()>& function) {
  if (service_ != nullptr && serving_.done()) serving_.wait();
  worker.runtime().requests().exclusively(function);
}

void Serving::end(Worker& worker) {
  worker.runtime().requests().leave();
  serving_.wait();
}

void Serving::serve(Worker& lane) const {
  Requests& requests = lane.runtime().requests();
  std::vector<std::unique_ptr<Request>> early;
  const auto replied = [&](const std::unique_ptr<Request>& request) {
    const std::optional<Buffer> reply = service_->give(lane, *request);
    if (!reply) return false;
    lane.runtime().lane(lane.lane).meter.add({1, reply->modelled_bytes()});
    count_leaving(lane, request->asker, reply->modelled_bytes());
    request->reply(*reply);
    return true;
  };
  while (std::unique_ptr<Request> request = next_request(lane.runtime())) {
    requests.exclusively([&] {
      const Timeline::Scope scope(lane.timeline, Activity::compute, "serve");
      service_->take(lane, *request);
      request->content = {};
      early.push_back(std::move(request));
      std::erase_if(early, replied);
    });
  }
}

}  // namespace trigram
