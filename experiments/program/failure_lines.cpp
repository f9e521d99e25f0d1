// What a study says of runs that failed.
#include "experiments/program/tables.hpp"

namespace trigram {
namespace {

std::string counted(const std::vector<FailedRun>& failed, std::size_t all) {
  return std::to_string(failed.size()) + " of " + std::to_string(all) + " runs failed";
}

/// "s.cfg:5: row 'a', seed = 2, learning runs: it said this (runs/a-1/log.txt)"
std::string sentence(const FailedRun& one) {
  std::string text = one.point.place.substr(0, one.point.place.rfind(": "));
  for (const auto& [key, value] : one.point.axes) text += ", " + key + " = " + value;
  if (one.phase != RunPool::main_phase) text += ", of the " + one.phase;
  text += ": " + one.message;
  return one.folder.empty() ? text : text + " (" + one.folder + "/log.txt)";
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
