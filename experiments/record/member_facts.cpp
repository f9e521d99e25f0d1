#include "experiments/record/member_facts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/members/member_schedule.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/files/text_file.hpp"

namespace trigram {
namespace {

constexpr const char* epoch_columns[] = {"epoch", "step",    "steps", "ranks",      "joined", "left",
                                         "lost",  "begin_s", "end_s", "recovery_s", "lost_s"};

}  // namespace

std::unique_ptr<Membership> membership_of(const RunConfig& config) {
  const std::string& given = config.membership;
  if (given.empty()) return nullptr;
  if (config.membership_file().empty()) return Memberships::make(given);
  const std::string text = text_by_hand(given, "a schedule of members");
  return located([&] { return in_quotes(given) + ": "; },
                 [&] { return std::make_unique<MemberSchedule>(parse_membership(text)); });
}

std::vector<MemberEpoch> epochs_of(const Membership& membership, const RunConfig& config, int ranks) {
  const auto* const schedule = dynamic_cast<const MemberSchedule*>(&membership);
  if (schedule == nullptr || schedule->by_clock()) return {};
  return located([&] { return in_quotes(config.membership) + ": "; },
                 [&] { return member_epochs(ranks, config.training.steps, schedule->events()); });
}

nlohmann::json member_facts(const std::vector<EpochRecord>& epochs, bool simulated) {
  double useful = 0, recovery = 0, lost = 0;
  const auto seconds = [&](double value) { return simulated ? nlohmann::json(value) : nlohmann::json(); };
  nlohmann::json rows = nlohmann::json::array();
  for (const EpochRecord& record : epochs) {
    useful += record.end_s - record.begin_s;
    recovery += record.recovery_s;
    lost += record.lost_s;
    const MemberEpoch& epoch = record.epoch;
    rows.push_back({{"epoch", rows.size()},
                    {"step", epoch.begin},
                    {"steps", record.steps},
                    {"ranks", epoch.members.size()},
                    {"joined", epoch.joined.size()},
                    {"left", epoch.left.size()},
                    {"lost", epoch.lost.size()},
                    {"begin_s", seconds(record.begin_s)},
                    {"end_s", seconds(record.end_s)},
                    {"recovery_s", seconds(record.recovery_s)},
                    {"lost_s", seconds(record.lost_s)}});
  }
  const double all = epochs.back().end_s - epochs.front().begin_s;
  return {{"goodput", seconds(all > 0 ? useful / all : 1)},
          {"recovery_s", seconds(recovery)},
          {"lost_s", seconds(lost)},
          {"epochs", rows}};
}

std::string epochs_csv(const nlohmann::json& facts) {
  std::ostringstream text;
  for (const char* column : epoch_columns) text << (column == epoch_columns[0] ? "" : ",") << column;
  text << "\n";
  for (const nlohmann::json& row : facts.at("epochs")) {
    for (const char* column : epoch_columns) {
      const nlohmann::json& value = row.at(column);
      text << (column == epoch_columns[0] ? "" : ",") << (value.is_null() ? "" : value.dump());
    }
    text << "\n";
  }
  return text.str();
}

}  // namespace trigram
