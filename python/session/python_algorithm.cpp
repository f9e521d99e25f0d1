// An algorithm whose hooks are functions of the language that loaded this library, as functions of C.
#include <cstdint>
#include <memory>
#include <string>

#include "core/foreign/foreign_messages.hpp"
#include "python/session/answer.hpp"
#include "python/session/call_text.hpp"
#include "python/session/surface.hpp"

namespace trigram {

struct LaneOfCaller {
  ForeignLane& lane;
  std::string failure = {};
};

namespace {

class CallersCode final : public ForeignCode {
 public:
  explicit CallersCode(MessageCallback callback) : callback_(callback) {}

  void open() override {
    require(callback_ != nullptr, "an algorithm of Python is given to with_trigram, as its class");
  }

  void hook(ForeignLane& lane, const std::string& name, int bucket) override {
    run(lane, message_of_hook(lane, name, bucket));
  }

  void task(ForeignLane& lane, std::int64_t number) override { run(lane, message_of_task(lane, number)); }

  void exchange(ForeignLane& lane, int bucket) override { run(lane, message_of_exchange(lane, bucket)); }

 private:
  void run(ForeignLane& lane, const Json& message) const {
    LaneOfCaller own{lane};
    if (callback_(&own, message.dump().c_str()) != 0) throw Error(own.failure);
  }

  MessageCallback callback_;
};

/// Of the algorithms that this thread makes next: sessions of other threads have their own.
thread_local MessageCallback callback_next = nullptr;

const Algorithms::Registration registration("python_algorithm", {"an algorithm that is written in Python"},
                                            [](Params& params) {
                                              return std::make_unique<ForeignAlgorithm>(
                                                  params, std::make_shared<CallersCode>(callback_next));
                                            });

}  // namespace
}  // namespace trigram

using trigram::LaneOfCaller;

void trigram_hooks(trigram::MessageCallback callback) { trigram::callback_next = callback; }

int trigram_lane_call(LaneOfCaller* own, const char* group, const char* call, const std::uint64_t* addresses,
                      const std::int64_t* counts, int buffers) {
  return trigram::answer([&] { own->lane.perform(group, trigram::group_call_of(call, addresses, counts, buffers)); });
}

int trigram_lane_ask(LaneOfCaller* own, const char* question) {
  return trigram::answer(
      [&] { trigram::last_reply = trigram::answer_to(own->lane, trigram::Json::parse(question)).dump(); });
}

void trigram_lane_fail(LaneOfCaller* own, const char* reason) { own->failure = reason; }
