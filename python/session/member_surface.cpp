// Members that come and go, as functions of C.
#include <utility>
#include <vector>

#include "core/members/member_schedule.hpp"
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
  return {ranks, ranks, were, now, told.at("lost").get<std::vector<int>>()};
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

int trigram_member_epochs(const char* text, int ranks, std::int64_t steps) {
  return trigram::answer([&] {
    trigram::Json epochs = trigram::Json::array();
    for (const auto& epoch : trigram::member_epochs(ranks, steps, trigram::parse_membership(text))) {
      epochs.push_back({{"begin", epoch.begin},
                        {"members", epoch.members},
                        {"joined", epoch.joined},
                        {"left", epoch.left},
                        {"lost", epoch.lost}});
    }
    trigram::last_reply = epochs.dump();
  });
}
