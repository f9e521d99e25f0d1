#include "core/foreign/outside_words.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

using nlohmann::json;

json place_of(const Communicator& comm) { return json::array({comm.rank(), comm.size()}); }

void add_where(const Worker& worker, json& told) {
  told.update(
      {{"step", worker.step}, {"steps", worker.steps}, {"learning_rate", worker.learning_rate}, {"lane", worker.lane}});
}

using Answer = std::function<json(OutsideLane&, const json&)>;

const std::map<std::string, Answer>& answers() {
  static const std::map<std::string, Answer> all{
      {"start",
       [](OutsideLane& lane, const json& asked) {
         lane.start(asked.at("bucket"), asked.at("number"));
         return json();
       }},
      {"wait",
       [](OutsideLane& lane, const json& asked) {
         lane.wait(asked.at("number"));
         return json();
       }},
      {"communicates",
       [](OutsideLane& lane, const json&) {
         lane.communicates();
         return json();
       }},
      {"done", [](OutsideLane& lane, const json& asked) { return json(lane.done(asked.at("number"))); }},
      {"record",
       [](OutsideLane& lane, const json& asked) {
         lane.worker().record(asked.at("column").get<std::string>(), asked.at("value"));
         return json();
       }},
      {"charge",
       [](OutsideLane& lane, const json& asked) {
         lane.worker().device.charge(KernelCost{asked.at("flops"), asked.at("bytes_moved")});
         return json();
       }},
      {"now", [](OutsideLane& lane, const json&) { return json(lane.worker().now()); }}};
  return all;
}

}  // namespace

json told_of_moment(OutsideLane& lane, const std::string& moment, int bucket) {
  Worker& worker = lane.worker();
  json told = {{"moment", moment}, {"bucket", bucket}};
  if (moment == "setup") {
    told["groups"] = {
        {"all", place_of(worker.comm)}, {"node", place_of(worker.node)}, {"leaders", place_of(worker.leaders)}};
    told["hierarchy"] = name_of(worker.relaxation.hierarchy);
    told["gradients"] = name_of(worker.relaxation.gradients);
  }
  add_where(worker, told);
  return told;
}

json told_of_body(OutsideLane& lane, std::int64_t number) {
  json told = {{"body", number}};
  add_where(lane.worker(), told);
  return told;
}

json told_of_exchange(OutsideLane& lane, int bucket) {
  json told = {{"exchange", bucket}};
  add_where(lane.worker(), told);
  return told;
}

json answer_to(OutsideLane& lane, const json& asked) {
  const std::string what = asked.at("ask");
  const auto found = answers().find(what);
  ensure(found != answers().end(), "a hook needs ", Quoted(what), ", which this program does not provide");
  return found->second(lane, asked);
}

GroupCall group_call_of(const json& asked) {
  GroupCall call{asked.at("collective"), reduce_op_of(asked.at("op")), asked.at("peer")};
  call.peers = asked.at("peers").get<std::vector<int>>();
  call.sent = asked.at("sent").get<std::size_t>();
  return call;
}

}  // namespace trigram
