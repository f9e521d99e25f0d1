// Epochs of members that come and go, as functions of C.
#include <memory>

#include "meeting/store/epoch_meeting.hpp"
#include "python/session/answer.hpp"
#include "python/session/surface.hpp"

int trigram_take_seat(const char* terms) {
  return trigram::answer([&] {
    const trigram::Json told = trigram::Json::parse(terms);
    trigram::EpochSeat::Terms of_epoch;
    of_epoch.rank = told.at("rank");
    of_epoch.ranks = told.at("ranks");
    of_epoch.host = told.at("host");
    of_epoch.port = told.at("port");
    of_epoch.secret = told.at("secret");
    of_epoch.patience = told.at("patience");
    of_epoch.silence = told.at("silence");
    auto seat = std::make_unique<trigram::EpochSeat>(of_epoch);
    trigram::last_reply = trigram::Json{{"port", seat->port()}}.dump();
    trigram::keep_seat(std::move(seat));
  });
}

void trigram_leave_seat() { trigram::take_seat().reset(); }
