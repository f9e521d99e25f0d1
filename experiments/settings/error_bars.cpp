#include "experiments/settings/error_bars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <vector>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

constexpr std::array all_regimes{Regime::compute, Regime::latency, Regime::bandwidth};

std::vector<std::string> parts_at(const std::string& text, char separator) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

ErrorBar read_bar(const std::string& entry) {
  constexpr double hundred = 100, most_rows = 1e9;
  const std::vector<std::string> fields = parts_at(entry, '/');
  const auto rows = fields.size() == 3 ? whole_number(fields[1]) : std::nullopt;
  const bool percent = fields.size() == 3 && fields[2].ends_with('%');
  const auto error = percent ? finite_number(fields[2].substr(0, fields[2].size() - 1)) : std::nullopt;
  require(rows && error && *rows > 0 && static_cast<double>(*rows) < most_rows && *error >= 0, Quoted(entry),
          " is malformed; write all/MEASUREMENTS/ERROR%, or a regime in place of all: compute, latency, bandwidth");
  return {*error / hundred, static_cast<int>(*rows)};
}

std::string bar_text(const std::string& name, const ErrorBar& bar) {
  constexpr double to_percent = 100, digits = 10;
  return name + "/" + std::to_string(bar.rows) + "/" +
         number_text(std::round(to_percent * digits * bar.error) / digits) + "%";
}

}  // namespace

const char* name_of(Regime regime) {
  return regime == Regime::compute ? "compute" : regime == Regime::latency ? "latency" : "bandwidth";
}

ErrorBars::ErrorBars(const std::string& text) {
  for (const std::string& word : parts_at(text, ' ')) {
    const ErrorBar bar = read_bar(word);
    const std::string name = word.substr(0, word.find('/'));
    const auto regime = std::ranges::find_if(all_regimes, [&](Regime one) { return name == name_of(one); });
    require(name == "all" || regime != all_regimes.end(), Quoted(word), ": ", Quoted(name),
            " is none of all, compute, latency, bandwidth");
    if (name == "all") {
      add(bar);
    } else {
      add(*regime, bar);
    }
  }
}

std::string ErrorBars::text() const {
  std::string all = all_ ? bar_text("all", *all_) : "";
  for (const auto& [regime, bar] : of_) all += (all.empty() ? "" : " ") + bar_text(name_of(regime), bar);
  return all;
}

std::optional<ErrorBar> ErrorBars::of(Regime regime) const {
  constexpr int fewest = 3;
  const auto found = of_.find(regime);
  return found != of_.end() && (found->second.rows >= fewest || !all_) ? found->second : all_;
}

}  // namespace trigram
