// Members that come and go, as functions of C.
#include <utility>
#include <vector>

#include "core/members/member_schedule.hpp"
#include "core/step/algorithm.hpp"
#include "core/training/handover.hpp"
#include "python/session/answer.hpp"
#include "python/session/session.hpp"
#include "python/session/surface.hpp"

namespace trigram {

struct KeptBytes {
  std::vector<std::byte> bytes;
};

namespace {

MemberChange change_of(const Json& told) {
  const auto ranks = told.at("ranks").get<int>();
  const auto were = told.at("were").get<std::vector<int>>();
  const auto now = static_cast<int>(were.size());
  return {ranks, ranks, were, now, told.at("lost").get<std::vector<int>>(), told.at("apart").get<std::vector<int>>()};
}

/// The epochs that they make; none before it is known how many steps there are.
Json changes_by_steps(int ranks, std::int64_t steps, const std::vector<MemberEvent>& events) {
  Json epochs = Json::array();
  if (steps == 0) return epochs;
  for (const MemberEpoch& epoch : member_epochs(ranks, steps, events)) {
    epochs.push_back({{"begin", epoch.begin},
                      {"members", epoch.members},
                      {"joined", epoch.joined},
                      {"left", epoch.left},
                      {"lost", epoch.lost}});
  }
  return epochs;
}

/// Of each member that changes, when. Throws UsageError for one that cannot be there.
Json changes_by_clock(int ranks, const std::vector<MemberEvent>& events) {
  Json changes = Json::array();
  MemberRoll roll(ranks);
  for (const MemberEvent& event : events) {
    roll.turn(0);
    roll.change(event);
    const bool joins = event.kind == MemberEvent::Kind::join;
    const char* const how = joins ? "join" : event.kind == MemberEvent::Kind::leave ? "leave" : "lose";
    for (const int member : joins ? roll.epoch().joined : std::vector<int>{event.member})
      changes.push_back({{"second", *event.second}, {"how", how}, {"member", member}});
  }
  return changes;
}

}  // namespace
}  // namespace trigram

using trigram::KeptBytes;
using trigram::Session;

KeptBytes* trigram_kept() { return new KeptBytes; }

void trigram_kept_bytes(const KeptBytes* kept, const char** bytes, std::int64_t* count) {
  *bytes = reinterpret_cast<const char*>(kept->bytes.data());
  *count = static_cast<std::int64_t>(kept->bytes.size());
}

void trigram_kept_drop(KeptBytes* kept) { delete kept; }

int trigram_border(Session* session, KeptBytes* kept) {
  return trigram::answer([&] { kept->bytes = session->border(std::move(kept->bytes)); });
}

int trigram_hand_over(const char* change, const std::uint64_t* states, const std::int64_t* counts, int rank,
                      KeptBytes* handed) {
  return trigram::answer([&] {
    const auto state = [&](int old) {
      const auto* begin = static_cast<const std::byte*>(trigram::address(states[old]));
      return std::vector<std::byte>(begin, begin + counts[old]);
    };
    handed->bytes = trigram::Handover(trigram::change_of(trigram::Json::parse(change)), state).of(rank);
  });
}

int trigram_take_over(Session* session, const KeptBytes* handed) {
  return trigram::answer([&] { session->take_over(handed->bytes); });
}

int trigram_settle(Session* session) {
  return trigram::answer([&] { session->settle(); });
}

int trigram_require_whole(Session* session) {
  return trigram::answer([&] { session->require_whole(); });
}

void trigram_give_up(const Session* session, const char* reason) { session->give_up(reason); }

int trigram_bears_absence(const char* algorithm, int* bears) {
  return trigram::answer([&] { *bears = trigram::Algorithms::make(algorithm)->bears_absence() ? 1 : 0; });
}

int trigram_member_changes(const char* text, int ranks, std::int64_t steps) {
  return trigram::answer([&] {
    const auto events = trigram::parse_membership(text);
    const bool by_clock = !events.empty() && events.front().second;
    trigram::last_reply = trigram::Json{{"by_clock", by_clock},
                                        {"changes", by_clock ? trigram::changes_by_clock(ranks, events)
                                                             : trigram::changes_by_steps(ranks, steps, events)}}
                              .dump();
  });
}
