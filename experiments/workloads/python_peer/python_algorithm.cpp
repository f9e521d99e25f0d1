// An algorithm of the Python that started this program: its moments there, its collectives here.
#include <cstring>
#include <memory>
#include <utility>

#include "core/error.hpp"
#include "core/outside_algorithm.hpp"
#include "experiments/workloads/python_peer/peer.hpp"

namespace trigram {
namespace {

using Json = nlohmann::json;

/// Brings what the buckets of a rank hold to where Python sees it, or back.
void show(OutsideLane& lane) {
  Peer& peer = Peer::of_this_process();
  std::size_t begin = 0;
  for (const Bucket& bucket : lane.buckets()) {
    const auto count = static_cast<std::size_t>(bucket.weights.count());
    lane.worker().device.download(bucket.weights, std::as_writable_bytes(peer.bucket_weights().subspan(begin, count)));
    lane.worker().device.download(bucket.gradients,
                                  std::as_writable_bytes(peer.bucket_gradients().subspan(begin, count)));
    begin += count;
  }
}

void take_back(OutsideLane& lane) {
  Peer& peer = Peer::of_this_process();
  std::size_t begin = 0;
  for (const Bucket& bucket : lane.buckets()) {
    const auto count = static_cast<std::size_t>(bucket.weights.count());
    lane.worker().device.upload(std::as_bytes(peer.bucket_weights().subspan(begin, count)), bucket.weights);
    lane.worker().device.upload(std::as_bytes(peer.bucket_gradients().subspan(begin, count)), bucket.gradients);
    begin += count;
  }
}

Json place_of(const Communicator& comm) { return Json::array({comm.rank(), comm.size()}); }

/// A collective on tensors that lie one after the other in `bytes`, before and after it.
void call(OutsideLane& lane, const Json& asked, std::string& bytes) {
  Communicator& comm = lane.group(asked.at("group"));
  GroupCall wanted{asked.at("collective"), reduce_op_of(asked.at("op")), asked.at("peer")};
  wanted.peers = asked.at("peers").get<std::vector<int>>();
  wanted.sent = asked.at("sent").get<std::size_t>();
  const DType dtype = dtype_of(asked.at("dtype"));
  Device& device = lane.worker().device;
  std::vector<OwnedBuffer> tensors;
  std::size_t begin = 0;
  for (const auto count : asked.at("counts").get<std::vector<std::int64_t>>()) {
    tensors.push_back(device.allocate_unfilled(Shape::of(count, dtype)));
    const auto length = static_cast<std::size_t>(count * size_of(dtype));
    device.upload(std::as_bytes(std::span(bytes)).subspan(begin, length), tensors.back());
    begin += length;
    wanted.buffers.push_back(tensors.back());
  }
  check(comm, wanted);
  perform(comm, wanted);
  begin = 0;
  for (const OwnedBuffer& tensor : tensors) {
    const auto length = static_cast<std::size_t>(tensor.view().bytes());
    device.download(tensor, std::as_writable_bytes(std::span(bytes)).subspan(begin, length));
    begin += length;
  }
}

/// What Python asks for within a moment.
Json done_for(OutsideLane& lane, const Json& asked, std::string& bytes) {
  const std::string what = asked.at("ask");
  Worker& worker = lane.worker();
  if (what == "call") call(lane, asked, bytes);
  if (what == "start") lane.start(asked.at("bucket"), asked.at("number"));
  if (what == "wait") lane.wait(asked.at("number"));
  if (what == "done") return lane.done(asked.at("number"));
  if (what == "record") worker.record(asked.at("column").get<std::string>(), asked.at("value"));
  if (what == "charge") worker.device.charge(KernelCost{asked.at("flops"), asked.at("bytes_moved")});
  if (what == "now") return worker.now();
  return nullptr;
}

/// A moment is a conversation: Python begins it, asks for one thing after the other, each of which other ranks may work
/// beside, and ends it.
class PeerCode final : public OutsideCode {
 public:
  void open() override { Peer::of_this_process().require_algorithm(); }

  void moment(OutsideLane& lane, const std::string& name, int bucket) override {
    Json told = {{"moment", name}, {"bucket", bucket}};
    if (name == "setup") told.update(about(lane));
    run(lane, std::move(told));
  }

  void body(OutsideLane& lane, std::int64_t number) override { run(lane, {{"body", number}}); }

 private:
  static Json about(OutsideLane& lane) {
    Peer::of_this_process().require_algorithm();
    Worker& worker = lane.worker();
    std::vector<std::int64_t> counts;
    std::int64_t all = 0;
    for (const Bucket& bucket : lane.buckets()) {
      counts.push_back(bucket.weights.count());
      all += counts.back();
    }
    require(static_cast<std::size_t>(all) == Peer::of_this_process().count(), "buckets have ", all,
            " elements and the model of Python ", Peer::of_this_process().count(),
            ": an algorithm of Python knows no padding; leave --bucket-alignment out");
    return {{"counts", counts},
            {"groups",
             {{"all", place_of(worker.comm)}, {"node", place_of(worker.node)}, {"leaders", place_of(worker.leaders)}}}};
  }

  static void run(OutsideLane& lane, Json told) {
    Worker& worker = lane.worker();
    told.update({{"ask", "moment"},
                 {"rank", worker.rank()},
                 {"lane", worker.lane},
                 {"step", worker.step},
                 {"steps", worker.steps},
                 {"learning_rate", worker.learning_rate}});
    const Json where = {{"ask", "go_on"}, {"rank", worker.rank()}, {"lane", worker.lane}};
    std::string bytes;
    for (Json question = std::move(told);;) {
      show(lane);
      const Json asked = Peer::of_this_process().ask(std::move(question), bytes);
      take_back(lane);
      if (asked.at("ask") == "nothing") return;
      const Json answer = done_for(lane, asked, bytes);
      question = where;
      question["answer"] = answer;
    }
  }
};

const Algorithms::Registration registration(
    "python_algorithm", {"an algorithm that is written in Python, as trigram.simulate gives it"},
    [](Params& params) { return std::make_unique<OutsideAlgorithm>(params, std::make_shared<PeerCode>()); });

}  // namespace
}  // namespace trigram
