#include "experiments/fit/predictions/prediction_folder.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/record/report_file.hpp"
#include "experiments/settings/files/text_file.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// JSON has no NaN.
nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

double number_at(const nlohmann::json& facts, const char* name) {
  return facts.at(name).is_null() ? std::nan("") : facts.at(name).get<double>();
}

Regime regime_named(const std::string& name) {
  for (const Regime regime : {Regime::compute, Regime::latency, Regime::bandwidth}) {
    if (name == name_of(regime)) return regime;
  }
  throw Error("'" + name + "' is no regime");
}

}  // namespace

std::optional<Predicted> PredictionFolder::find(const std::string& identity) const {
  constexpr std::size_t longest = 4096;
  const std::optional<std::string> text = read_text(folder_ / (identity + ".json"), longest);
  if (!text) return std::nullopt;
  try {
    const nlohmann::json facts = nlohmann::json::parse(*text);
    return Predicted{number_at(facts, "seconds"), regime_named(facts.at("regime")), number_at(facts, "bytes"),
                     number_at(facts, "between"), number_at(facts, "waits"),        number_at(facts, "error")};
  } catch (const std::exception&) {
    return std::nullopt;  // it is made again
  }
}

void PredictionFolder::keep(const std::string& identity, const Predicted& predicted) const {
  fs::create_directories(folder_);
  const nlohmann::ordered_json facts = {
      {"seconds", number_or_null(predicted.seconds)}, {"regime", name_of(predicted.regime)},
      {"bytes", number_or_null(predicted.bytes)},     {"between", number_or_null(predicted.between)},
      {"waits", number_or_null(predicted.waits)},     {"error", number_or_null(predicted.error)}};
  write_file(folder_ / (identity + ".json"), facts.dump() + "\n");
}

}  // namespace trigram
