// An algorithm whose moments are functions of the language that loaded this library, as functions of C.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/outside_algorithm.hpp"
#include "python/session/answer.hpp"
#include "python/session/call_text.hpp"

namespace trigram {
/// A lane, while it is the caller's code that runs there.
struct LaneOfCaller {
  OutsideLane& lane;
  std::string failure = {};
};

namespace {

/// Gives 0, or 1 after trigram_lane_fail. `told`: {"moment", "bucket"} or {"body"}, with "step", "steps",
/// "learning_rate", "lane"; in "setup" also "groups", as {"all": [rank, size], …}.
using Told = int (*)(LaneOfCaller*, const char* told);

Json place_of(const Communicator& comm) { return Json::array({comm.rank(), comm.size()}); }

class CallersCode final : public OutsideCode {
 public:
  explicit CallersCode(Told told) : told_(told) {}

  void open() override { require(told_ != nullptr, "an algorithm of Python is given to with_trigram, as its class"); }

  void moment(OutsideLane& lane, const std::string& name, int bucket) override {
    Json told = {{"moment", name}, {"bucket", bucket}};
    if (name == "setup") {
      Worker& worker = lane.worker();
      told["groups"] = {
          {"all", place_of(worker.comm)}, {"node", place_of(worker.node)}, {"leaders", place_of(worker.leaders)}};
    }
    run(lane, std::move(told));
  }

  void body(OutsideLane& lane, std::int64_t number) override { run(lane, {{"body", number}}); }

 private:
  void run(OutsideLane& lane, Json told) const {
    const Worker& worker = lane.worker();
    told.update({{"step", worker.step},
                 {"steps", worker.steps},
                 {"learning_rate", worker.learning_rate},
                 {"lane", worker.lane}});
    LaneOfCaller own{lane};
    if (told_(&own, told.dump().c_str()) != 0) throw Error(own.failure);
  }

  Told told_;
};

/// Of the algorithms that are made next.
Told told_next = nullptr;

const Algorithms::Registration registration("python_algorithm", {"an algorithm that is written in Python"},
                                            [](Params& params) {
                                              return std::make_unique<OutsideAlgorithm>(
                                                  params, std::make_shared<CallersCode>(told_next));
                                            });

/// {"ask": "start" | "wait" | "done" | "record" | "charge" | "now", …}.
Json asked_for(OutsideLane& lane, const Json& given) {
  const std::string what = given.at("ask");
  Worker& worker = lane.worker();
  if (what == "start") lane.start(given.at("bucket"), given.at("number"));
  if (what == "wait") lane.wait(given.at("number"));
  if (what == "done") return lane.done(given.at("number"));
  if (what == "record") worker.record(given.at("column").get<std::string>(), given.at("value"));
  if (what == "charge") worker.device.charge(KernelCost{given.at("flops"), given.at("bytes_moved")});
  if (what == "now") return worker.now();
  return nullptr;
}

}  // namespace
}  // namespace trigram

using trigram::LaneOfCaller;

/// Sessions that are opened next with "python_algorithm" call `told`, from any thread, until they have finished.
TRIGRAM_SURFACE void trigram_moments(trigram::Told told) { trigram::told_next = told; }

/// A collective of the lane, as trigram_group_call; `group` is "all", "node" or "leaders".
TRIGRAM_SURFACE int trigram_lane_call(LaneOfCaller* own, const char* group, const char* call,
                                      const std::uint64_t* addresses, const std::int64_t* counts, int buffers) {
  return trigram::answer([&] {
    trigram::Communicator& comm = own->lane.group(group);
    const trigram::GroupCall asked = trigram::group_call_of(call, addresses, counts, buffers);
    trigram::check(comm, asked);
    trigram::perform(comm, asked);
  });
}

/// Answers what was asked for, as JSON.
TRIGRAM_SURFACE int trigram_lane_ask(LaneOfCaller* own, const char* question) {
  return trigram::answer(
      [&] { trigram::last_reply = trigram::asked_for(own->lane, trigram::Json::parse(question)).dump(); });
}

/// The code has failed; it gives 1 next.
TRIGRAM_SURFACE void trigram_lane_fail(LaneOfCaller* own, const char* reason) { own->failure = reason; }
