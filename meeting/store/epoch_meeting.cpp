#include "meeting/store/epoch_meeting.hpp"

#include <algorithm>
#include <utility>

#include "meeting/store/store_rendezvous.hpp"

namespace trigram {
namespace {

/// Who is gone is missed as soon as others look.
constexpr double longest_beat = 0.25;
constexpr double beats_of_a_silence = 8;
/// Others learn by themselves why an epoch ends.
constexpr double farewell_of_an_epoch = 0.5;

thread_local std::unique_ptr<EpochSeat> kept_seat;

Member member_with(const EpochSeat::Terms& terms) {
  Member member;
  member.rank = terms.rank;
  member.ranks = terms.ranks;
  member.launcher = "the members of the job";
  member.secret = terms.secret;
  return member;
}

}  // namespace

EpochSeat::EpochSeat(const Terms& terms)
    : terms_(terms),
      member_(member_with(terms)),
      store_(std::make_unique<TcpStore>(terms.host, terms.port, member_, terms.patience,
                                        TcpTimes{.answer = terms.silence, .farewell = farewell_of_an_epoch})) {}

std::unique_ptr<Rendezvous> EpochSeat::meet() {
  const double beat = std::min(longest_beat, terms_.silence / beats_of_a_silence);
  return std::make_unique<StoreRendezvous>(std::move(store_), member_, Patience{terms_.patience},
                                           HeartbeatTimes{.beat = beat, .silence = terms_.silence});
}

void keep_seat(std::unique_ptr<EpochSeat> seat) { kept_seat = std::move(seat); }

std::unique_ptr<EpochSeat> take_seat() { return std::exchange(kept_seat, nullptr); }

}  // namespace trigram
