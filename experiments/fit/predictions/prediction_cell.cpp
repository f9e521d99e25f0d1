#include "experiments/fit/predictions/prediction_cell.hpp"

#include <nlohmann/json.hpp>

#include "core/values/quoted.hpp"
#include "experiments/record/resume/digest.hpp"

namespace trigram {
namespace {

constexpr const char* asked_key = "predict";

std::string name_of(const PredictionTask& task) { return "prediction-" + task.identity; }

/// Predictions of one row are expected to take as long as each other.
std::string row_of(const PredictionTask& task) {
  return "predictions of " + (task.row.place.empty() ? task.cluster : task.row.place);
}

}  // namespace

std::string prediction_line(const PredictionTask& task) {
  nlohmann::ordered_json cell;
  cell["cell"] = name_of(task);
  cell["seconds"] = nullptr;
  cell["memory"] = nullptr;
  cell["program"] = program_digest();
  cell["row"] = cell["like"] = row_of(task);
  cell["place"] = task.row.place;
  cell[asked_key] = {{"cluster", task.cluster},
                     {"parameters", task.parameters},
                     {"flags", task.row.settings},
                     {"op", task.row.op},
                     {"size", task.row.size}};
  return cell.dump();
}

bool is_prediction(const std::string& line) {
  if (line.find(asked_key) == std::string::npos) return false;  // there may be many others
  const nlohmann::json cell = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  return cell.is_object() && cell.contains(asked_key);
}

PredictionTask read_prediction(const std::string& line) {
  constexpr const char* prefix = "prediction-";
  const nlohmann::json cell = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  PredictionTask task;
  try {
    const nlohmann::json& asked = cell.at(asked_key);
    task.cluster = asked.at("cluster");
    task.parameters = asked.at("parameters").get<Settings>();
    task.row.settings = asked.at("flags").get<Settings>();
    task.row.op = asked.at("op");
    task.row.size = asked.at("size");
    task.row.place = cell.at("place");
    task.identity = cell.at("cell").get<std::string>().substr(std::string(prefix).size());
    const std::string program = cell.at("program");
    require(program == program_digest(), "it is of another build of the program (digest ", shown(program),
            "; this one has ", program_digest(),
            "), which may predict something else; plan again with this one, or use that one");
  } catch (const nlohmann::json::exception&) {
    throw UsageError("it is no prediction of a plan, which is a JSON object on one line; plan again");
  } catch (const std::out_of_range&) {
    throw UsageError("it has the name of no prediction; plan again");
  }
  return task;
}

std::string prediction_cost(const PredictionTask& task, double seconds) {
  nlohmann::ordered_json line;
  line["cell"] = name_of(task);
  line["row"] = line["like"] = row_of(task);
  line["seconds"] = seconds;
  line["memory"] = 0;
  return line.dump() + "\n";
}

}  // namespace trigram
