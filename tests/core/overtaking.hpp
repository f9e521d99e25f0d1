// Messages of two lanes that are received in another order than they were sent: a transport that mixes up lanes hands
// one the other's.
#pragma once

#include <optional>
#include <vector>

#include "core/lane/service.hpp"
#include "core/lane/worker.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing {

/// Each probe does its work so often, since only what another lane has begun in time is overtaken. Results of a backend
/// that is right do not depend on it.
inline constexpr int overtakings = 20;

/// Gives what another lane has begun the time to be under way.
inline void pass_time(RankRuntime& runtime) {
  for (int time = 0; time < 10; ++time) runtime.lane(0).comm->barrier();
}

/// Even ranks send to the next one on lane 1 and then on lane 2; that one receives on lane 2 first. Returns the sums of
/// what lanes 1 and 2 of this rank held afterwards, their numbers each time; zeros on a last rank that has no partner.
inline std::vector<std::int64_t> overtaken_messages(RankRuntime& runtime) {
  Communicator& main = *runtime.lane(0).comm;
  const int partner = main.rank() ^ 1;
  const bool is_paired = partner < main.size(), sends = is_paired && main.rank() % 2 == 0;
  std::vector<std::int64_t> sums{0, 0};
  for (int time = 0; time < overtakings; ++time) {
    std::vector<OwnedBuffer> values;
    for (const int lane : {1, 2})
      values.push_back(on_device<std::int64_t>(*runtime.lane(lane).device, {sends ? lane : 0}));
    const auto exchange_on = [&](int lane) {
      return runtime.launch(lane, [&, lane] {
        const Buffer value = values[static_cast<std::size_t>(lane - 1)];
        const Transfer transfer = sends ? Transfer::send_to(partner, value) : Transfer::receive_from(partner, value);
        runtime.lane(lane).comm->exchange(std::span(&transfer, 1));
      });
    };
    std::vector<Pending> under_way;
    if (sends) under_way.push_back(exchange_on(1));
    pass_time(runtime);
    if (is_paired) under_way.push_back(exchange_on(2));
    if (is_paired && !sends) {
      under_way.back().wait();
      under_way.push_back(exchange_on(1));
    }
    for (Pending& each : under_way) each.wait();
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += on_host<std::int64_t>(main.device(), values[i].view()).front();
  }
  return sums;
}
inline const std::vector<std::int64_t> overtaken_by_lane{overtakings, 2 * overtakings};

/// Replies to the request of subject 1 after that of subject 0, although it came first, with 10 and its subject.
class LastFirst final : public Service {
 public:
  explicit LastFirst(Device& device) : replies_(on_device<std::int64_t>(device, {10, 11, 12})) {}
  void take(Worker&, const Request&) override { ++taken_; }
  std::optional<Buffer> give(Worker&, const Request& request) override {
    if (request.subject == 1 ? !has_replied_ : taken_ < 2) return std::nullopt;
    has_replied_ = request.subject != 2;
    if (request.subject == 2) taken_ = 0;
    return replies_.view().slice(request.subject, 1);
  }

 private:
  OwnedBuffer replies_;
  int taken_ = 0;
  bool has_replied_ = false;
};

/// Every rank asks the next one on lane 1 and then on the main lane, whose reply comes first. Returns the sums of the
/// replies by subject.
inline std::vector<std::int64_t> overtaken_replies(RankRuntime& runtime) {
  Worker worker(runtime, 0, {});
  LastFirst service(worker.device);
  Serving serving;
  serving.begin(worker, &service);
  std::vector<std::int64_t> sums(3);
  const auto ask_about = [&](Worker& lane, int subject) {
    const OwnedBuffer memory = on_device<std::int64_t>(lane.device, {subject});
    ask(lane, {(lane.rank() + 1) % lane.world_size(), subject, memory, memory});
    sums[static_cast<std::size_t>(subject)] += on_host<std::int64_t>(lane.device, memory).front();
  };
  for (int time = 0; time < overtakings; ++time) {
    Pending first = worker.start(1, [&](Worker& lane) { ask_about(lane, 1); });
    pass_time(runtime);
    ask_about(worker, 0);
    ask_about(worker, 2);  // by which the server looks at what it has not replied to
    first.wait();
  }
  serving.end(worker);
  return sums;
}
inline const std::vector<std::int64_t> overtaken_by_subject{10 * overtakings, 11 * overtakings, 12 * overtakings};

}  // namespace trigram::testing
