#include "core/members/member_schedule.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

using Kind = MemberEvent::Kind;

std::optional<Kind> kind_of(const std::string& word) {
  if (word == "join") return Kind::join;
  if (word == "leave") return Kind::leave;
  if (word == "lose") return Kind::lose;
  return std::nullopt;
}

std::optional<std::int64_t> count(const std::string& text) {
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

constexpr const char* forms =
    "give 'at STEP join COUNT', 'at STEP leave MEMBER, …' or 'at STEP lose MEMBER, …', or a time as 90s in place of "
    "STEP";

/// An event at the step or the second that the words name.
MemberEvent begun(const std::vector<std::string>& words, const std::string& where) {
  const bool is_whole = words.size() >= 4;
  const std::optional<Kind> kind = kind_of(is_whole ? words[2] : std::string());
  require(words.front() == "at" && kind && (kind != Kind::join || words.size() == 4), where,
          "is no change of members; ", forms);
  if (const std::optional<std::int64_t> step = count(words[1])) return {*step, *kind};
  MemberEvent event{0, *kind};
  located([&] { return where; }, [&] { event.second = parse_quantity(words[1], Unit::seconds); });
  return event;
}

void read_line(const std::vector<std::string>& words, const std::string& where, std::vector<MemberEvent>& events) {
  MemberEvent event = begun(words, where);
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::optional<std::int64_t> number = count(words[i]);
    require(
        number && *number <= 1'000'000, where, [&] { return in_quotes(words[i]); }, " is no whole number; ", forms);
    event.member = static_cast<int>(*number);
    events.push_back(event);
  }
}

/// Of neighbours; all events of a file are by steps, or all by the clock.
void require_order(const MemberEvent& before, const MemberEvent& event, const std::string& where) {
  require(before.second.has_value() == event.second.has_value(), where, "names a ", event.second ? "time" : "step",
          ", and the line above a ", event.second ? "step" : "time", "; give steps alone, or times alone");
  require(event.second ? *event.second >= *before.second : event.step >= before.step, where,
          event.second ? format_quantity(*event.second, Unit::seconds) : "step " + std::to_string(event.step),
          " comes before that of the line above");
}

}  // namespace

std::vector<MemberEvent> parse_membership(const std::string& text) {
  std::vector<MemberEvent> events;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    const std::string where = "line " + std::to_string(++number) + ": ";
    const std::size_t known = events.size();
    if (!words.empty()) read_line(words, where, events);
    if (known > 0 && events.size() > known) require_order(events[known - 1], events[known], where);
  }
  return events;
}

}  // namespace trigram
