// What a study says of runs that failed.
#include <algorithm>

#include "experiments/program/tables/tables.hpp"

namespace trigram {
namespace {

/// "2 of 8 runs failed", "3 of 8 runs have not been made", or both.
std::string counted(const std::vector<FailedRun>& failed, std::size_t all) {
  const auto missing = static_cast<std::size_t>(std::ranges::count_if(failed, &FailedRun::missing));
  const std::size_t tried = failed.size() - missing;
  const std::string of = " of " + std::to_string(all) + " runs ";
  const std::string absent = std::to_string(missing) + of + "have not been made";
  if (tried == 0) return absent;
  return std::to_string(tried) + of + "failed" + (missing > 0 ? ", and " + absent : "");
}

/// "s.cfg:5: row 'a', seed = 2, learning runs: it said this (runs/a-1/log.txt)"
std::string sentence(const FailedRun& one) {
  std::string text = one.point.place.substr(0, one.point.place.rfind(": "));
  for (const auto& [key, value] : one.point.axes) text += ", " + key + " = " + value;
  if (one.phase != RunPool::main_phase) text += ", of the " + one.phase;
  text += ": " + one.message;
  return one.folder.empty() || one.missing ? text : text + " (" + one.folder + "/log.txt)";
}

}  // namespace

std::string first_failure(const std::vector<FailedRun>& failed, std::size_t all) {
  return counted(failed, all) + "; the first: " + sentence(failed.front());
}

std::string failure_lines(const std::vector<FailedRun>& failed, std::size_t all) {
  if (failed.empty()) return "";
  constexpr std::size_t most = 20;
  std::string text = "\n" + counted(failed, all) + ", and are missing above:\n";
  for (std::size_t i = 0; i < failed.size() && i < most; ++i) {
    text += "  " + sentence(failed[i]) + "\n";
    if (!failed[i].command.empty()) text += "    " + failed[i].command + "\n";
  }
  if (failed.size() > most) text += "  and " + std::to_string(failed.size() - most) + " more, in study.json\n";
  return text;
}

}  // namespace trigram
