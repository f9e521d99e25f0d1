#include "experiments/study/cell.hpp"

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/record/resume/digest.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/study/study_run.hpp"

namespace trigram {
namespace {

nlohmann::json known(double value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); }

nlohmann::json parsed(const std::string& line) {
  nlohmann::json cell = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  require(cell.is_object(), "it is no cell, which is a JSON object on one line, as trigram study --plan writes it");
  for (const char* key : {"cell", "program", "row", "like", "place"})
    require(cell.contains(key) && cell[key].is_string(), "it has no text ", Quoted(key), "; it is no cell of a plan");
  require(cell.contains("flags") && cell["flags"].is_object(), "it has no 'flags'; it is no cell of a plan");
  for (const auto& [flag, value] : cell["flags"].items())
    require(value.is_string(), "flag ", Quoted(flag), " is no text; it is no cell of a plan");
  return cell;
}

RunTask task_of_line(const std::string& line, const std::filesystem::path& study) {
  const nlohmann::json cell = parsed(line);
  const std::string program = cell["program"];
  require(program == program_digest(), "it is of another build of the program (digest ", shown(program),
          "; this one has ", program_digest(),
          "), whose results may differ; plan again with this one, or use that one");
  StudyPoint point{cell["row"], "", "", {}, cell["flags"].get<Settings>(), cell["place"]};
  RunTask task = task_of(StudyRun(study, point), point);
  const std::string name = cell["cell"];
  require(task.name == name, "it is called ", shown(name), ", and its flags make ", task.name, "; plan again");
  task.like = cell["like"];
  return task;
}

}  // namespace

std::string cell_line(const RunTask& task, const RunCost& expected, bool failed) {
  nlohmann::ordered_json cell;
  cell["cell"] = task.name;
  cell["seconds"] = known(expected.seconds);
  cell["memory"] = known(expected.memory);
  if (failed) cell["failed"] = true;
  cell["program"] = program_digest();
  cell["row"] = task.row;
  cell["like"] = task.like;
  cell["place"] = task.place;
  cell["command"] = command_of({task.row, "", "", {}, task.flags});
  cell["flags"] = task.flags;
  return cell.dump();
}

std::vector<RunTask> read_cells(std::istream& lines, const std::string& name, const std::filesystem::path& study) {
  std::vector<RunTask> tasks;
  std::set<std::string> seen;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    RunTask task = located(name + ":" + std::to_string(number) + ": ", [&] { return task_of_line(line, study); });
    if (seen.insert(task.name).second) tasks.push_back(std::move(task));
  }
  return tasks;
}

std::optional<CellShare> CellShare::read(const std::string& text) {
  static const std::regex form("([0-9]{1,9})/([0-9]{1,9})");
  std::smatch found;
  if (!std::regex_match(text, found, form)) return std::nullopt;
  const CellShare share{std::stoul(found[1]), std::stoul(found[2])};
  require(share.number >= 1 && share.number <= share.of, "--cells ", text, " is none of ", share.of,
          " shares; the first is 1/", share.of, ", the last ", share.of, "/", share.of);
  return share;
}

bool CellShare::has(const RunTask& task) const {
  constexpr int hexadecimal = 16;
  return std::stoull(task.identity, nullptr, hexadecimal) % of == number - 1;
}

}  // namespace trigram
