#include "core/members/membership.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "core/training/member_change.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

using Kind = MemberEvent::Kind;

std::optional<Kind> kind_of(const std::string& word) {
  if (word == "join") return Kind::join;
  if (word == "leave") return Kind::leave;
  if (word == "lose") return Kind::lose;
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end || number < 0) return std::nullopt;
  return number;
}

/// The words of a line; commas between numbers are blanks.
std::vector<std::string> words_of(std::string line) {
  line.resize(std::min(line.size(), line.find('#')));
  std::ranges::replace(line, ',', ' ');
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

constexpr const char* forms = "give 'at STEP join COUNT', 'at STEP leave MEMBER, …' or 'at STEP lose MEMBER, …'";

void read_line(const std::vector<std::string>& words, const std::string& where, std::vector<MemberEvent>& events) {
  const bool is_whole = words.size() >= 4;
  const std::optional<Kind> kind = kind_of(is_whole ? words[2] : std::string());
  const std::optional<std::int64_t> step = whole_number(is_whole ? words[1] : std::string());
  require(words.front() == "at" && kind && step && (kind != Kind::join || words.size() == 4), where,
          "is no change of members; ", forms);
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::optional<std::int64_t> number = whole_number(words[i]);
    require(
        number && *number <= 1'000'000, where, [&] { return in_quotes(words[i]); }, " is no whole number; ", forms);
    events.push_back({*step, *kind, static_cast<int>(*number)});
  }
}

/// Takes a member out. Throws UsageError where it is not there.
void remove(std::vector<int>& members, const MemberEvent& event) {
  const auto found = std::ranges::find(members, event.member);
  require(found != members.end(), "at step ", event.step, " member ", event.member,
          " goes, who is not there; members are 0 to ranks - 1, and who joins gets the next number");
  members.erase(found);
}

}  // namespace

std::vector<MemberEvent> parse_membership(const std::string& text) {
  std::vector<MemberEvent> events;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    const std::string where = "line " + std::to_string(++number) + ": ";
    if (!words.empty()) read_line(words, where, events);
    require(events.empty() || events.size() < 2 || events.back().step >= events[events.size() - 2].step, where, "step ",
            events.empty() ? 0 : events.back().step, " comes before that of the line above");
  }
  return events;
}

std::vector<MemberEpoch> member_epochs(int ranks, std::int64_t steps, const std::vector<MemberEvent>& events) {
  std::vector<MemberEpoch> epochs(1);
  for (int rank = 0; rank < ranks; ++rank) epochs.front().members.push_back(rank);
  epochs.front().were.assign(static_cast<std::size_t>(ranks), MemberChange::newcomer);
  int next = ranks;
  for (const MemberEvent& event : events) {
    require(event.step > 0 && event.step < steps, "members change at step ", event.step, ", and training has ", steps,
            " steps; give a step between");
    if (event.step != epochs.back().begin) epochs.push_back({event.step, epochs.back().members});
    MemberEpoch& epoch = epochs.back();
    if (event.kind == Kind::join) {
      for (int i = 0; i < event.member; ++i) epoch.joined.push_back(next++);
      epoch.members.insert(epoch.members.end(), epoch.joined.end() - event.member, epoch.joined.end());
    } else {
      remove(epoch.members, event);
      (event.kind == Kind::leave ? epoch.left : epoch.lost).push_back(event.member);
    }
    require(!epoch.members.empty(), "at step ", event.step, " nobody is left to train");
  }
  for (std::size_t i = 1; i < epochs.size(); ++i) {
    const std::vector<int>& before = epochs[i - 1].members;
    for (const int member : epochs[i].members) {
      const auto found = std::ranges::find(before, member);
      epochs[i].were.push_back(found == before.end() ? MemberChange::newcomer
                                                     : static_cast<int>(found - before.begin()));
    }
  }
  return epochs;
}

}  // namespace trigram
