// An algorithm of the Python that started this program: its moments there, its collectives here.
#include <memory>
#include <utility>

#include "core/foreign/foreign_messages.hpp"
#include "core/values/error.hpp"
#include "experiments/workloads/python_peer/peer.hpp"
#include "experiments/workloads/python_peer/peer_call.hpp"

namespace trigram {
namespace {

using Json = nlohmann::json;

/// Brings what the buckets of a rank hold to where Python sees it, or back.
void show(ForeignLane& lane) {
  Peer& peer = Peer::of_this_process();
  std::size_t begin = 0;
  for (const Bucket& bucket : lane.buckets()) {
    const auto count = static_cast<std::size_t>(bucket.weights.count());
    if (count == 0) continue;  // on a profile's clock, most of them
    lane.worker().device.download(bucket.weights, std::as_writable_bytes(peer.bucket_weights().subspan(begin, count)));
    lane.worker().device.download(bucket.gradients,
                                  std::as_writable_bytes(peer.bucket_gradients().subspan(begin, count)));
    begin += count;
  }
}

void take_back(ForeignLane& lane) {
  Peer& peer = Peer::of_this_process();
  std::size_t begin = 0;
  for (const Bucket& bucket : lane.buckets()) {
    const auto count = static_cast<std::size_t>(bucket.weights.count());
    if (count == 0) continue;
    lane.worker().device.upload(std::as_bytes(peer.bucket_weights().subspan(begin, count)), bucket.weights);
    lane.worker().device.upload(std::as_bytes(peer.bucket_gradients().subspan(begin, count)), bucket.gradients);
    begin += count;
  }
}

/// A hook is a conversation: Python begins it, asks for one thing after the other, each of which other ranks may work
/// beside, and ends it. What needs no answer comes with the next thing that does, as its "before".
class PeerCode final : public ForeignCode {
 public:
  void open() override { Peer::of_this_process().require_algorithm(); }

  void hook(ForeignLane& lane, const std::string& name, int bucket) override {
    Json message = message_of_hook(lane, name, bucket);
    if (name == "setup") {
      message["counts"] = counts_of(lane);
      message["modelled_counts"] = modelled_counts_of(lane);
    }
    run(lane, std::move(message));
  }

  void task(ForeignLane& lane, std::int64_t number) override { run(lane, message_of_task(lane, number)); }

  void exchange(ForeignLane& lane, int bucket) override { run(lane, message_of_exchange(lane, bucket)); }

 private:
  /// Elements of each bucket.
  static std::vector<std::int64_t> counts_of(ForeignLane& lane) {
    Peer::of_this_process().require_algorithm();
    std::vector<std::int64_t> counts;
    std::int64_t all = 0;
    for (const Bucket& bucket : lane.buckets()) {
      counts.push_back(bucket.weights.count());
      all += counts.back();
    }
    require(static_cast<std::size_t>(all) == Peer::of_this_process().count(), "buckets have ", all,
            " elements and the model of Python ", Peer::of_this_process().count(),
            ": an algorithm of Python knows no padding; leave --bucket-alignment out");
    return counts;
  }

  static std::vector<std::int64_t> modelled_counts_of(ForeignLane& lane) {
    std::vector<std::int64_t> counts;
    for (const Bucket& bucket : lane.buckets()) counts.push_back(bucket.weights.modelled_count());
    return counts;
  }

  static void run(ForeignLane& lane, Json message) {
    const Worker& worker = lane.worker();
    message.update({{"ask", "hook"}, {"rank", worker.rank()}});
    const Json where = {{"ask", "go_on"}, {"rank", worker.rank()}, {"lane", worker.lane}};
    std::string bytes;
    for (Json question = std::move(message);;) {
      show(lane);
      const Json asked = Peer::of_this_process().ask(std::move(question), bytes);
      take_back(lane);
      std::string no_bytes;
      for (const Json& one : asked.value("before", Json::array())) answer(lane, one, no_bytes);
      if (asked.at("ask") == "nothing") return;
      question = where;
      question["answer"] = answer(lane, asked, bytes);
    }
  }

  static Json answer(ForeignLane& lane, const Json& asked, std::string& bytes) {
    if (asked.at("ask") != "call") return answer_to(lane, asked);
    perform_for_peer(lane.worker().device, asked, bytes,
                     [&](const GroupCall& call) { lane.perform(asked.at("group"), call); });
    return nullptr;
  }
};

const Algorithms::Registration registration(
    "python_algorithm", {"an algorithm that is written in Python, as trigram.simulate gives it"},
    [](Params& params) { return std::make_unique<ForeignAlgorithm>(params, std::make_shared<PeerCode>()); });

}  // namespace
}  // namespace trigram
