#include "core/foreign/foreign_messages.hpp"

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

void add_where(const Worker& worker, json& message) {
  message.update(
      {{"step", worker.step}, {"steps", worker.steps}, {"learning_rate", worker.learning_rate}, {"lane", worker.lane}});
}

Fate fate_named(const std::string& word) {
  for (const Fate fate : {Fate::alike, Fate::own, Fate::averaged, Fate::balanced, Fate::joint, Fate::anew}) {
    if (name_of(fate) == word) return fate;
  }
  throw UsageError("'" + word +
                   "' is no fate of what code keeps; there are alike, own, averaged, balanced, joint and anew");
}

using Answer = std::function<json(ForeignLane&, const json&)>;

const std::map<std::string, Answer>& answers() {
  static const std::map<std::string, Answer> all{
      {"start",
       [](ForeignLane& lane, const json& asked) {
         lane.start(asked.at("bucket"), asked.at("number"));
         return json();
       }},
      {"wait",
       [](ForeignLane& lane, const json& asked) {
         lane.wait(asked.at("number"));
         return json();
       }},
      {"communicates",
       [](ForeignLane& lane, const json&) {
         lane.communicates();
         return json();
       }},
      {"list",
       [](ForeignLane& lane, const json& asked) {
         lane.list(asked.at("name"), fate_named(asked.at("fate")));
         return json();
       }},
      {"list_text",
       [](ForeignLane& lane, const json& asked) {
         return json(lane.list(asked.at("name"), fate_named(asked.at("fate")), asked.at("text")));
       }},
      {"done", [](ForeignLane& lane, const json& asked) { return json(lane.done(asked.at("number"))); }},
      {"record",
       [](ForeignLane& lane, const json& asked) {
         lane.worker().record(asked.at("column").get<std::string>(), asked.at("value"));
         return json();
       }},
      {"charge",
       [](ForeignLane& lane, const json& asked) {
         lane.worker().device.charge(KernelCost{asked.at("flops"), asked.at("bytes_moved")});
         return json();
       }},
      {"gone", [](ForeignLane& lane, const json&) { return json(lane.gone()); }},
      {"now", [](ForeignLane& lane, const json&) { return json(lane.worker().now()); }}};
  return all;
}

}  // namespace

json message_of_hook(ForeignLane& lane, const std::string& hook, int bucket) {
  Worker& worker = lane.worker();
  json message = {{"hook", hook}, {"bucket", bucket}};
  if (hook == "setup") {
    message["groups"] = {
        {"all", place_of(worker.comm)}, {"node", place_of(worker.node)}, {"leaders", place_of(worker.leaders)}};
    message["hierarchy"] = name_of(worker.relaxation.hierarchy);
    message["gradients"] = name_of(worker.relaxation.gradients);
  }
  add_where(worker, message);
  return message;
}

json message_of_task(ForeignLane& lane, std::int64_t number) {
  json message = {{"task", number}};
  add_where(lane.worker(), message);
  return message;
}

json message_of_exchange(ForeignLane& lane, int bucket) {
  json message = {{"exchange", bucket}};
  add_where(lane.worker(), message);
  return message;
}

json answer_to(ForeignLane& lane, const json& asked) {
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
