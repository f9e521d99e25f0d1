#include "experiments/program/calibrate/calibrate_from.hpp"

#include <cmath>
#include <iostream>
#include <map>

#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/fit/fit_words.hpp"
#include "experiments/fit/predictions/predictor.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/settings/cluster.hpp"

namespace trigram {
namespace {

using Seconds = std::vector<double>;

Settings values_at(const std::vector<FitParameter>& parameters, const Place& place) {
  Settings values;
  for (std::size_t i = 0; i < parameters.size(); ++i) values[parameters[i].key()] = parameters[i].text(place[i]);
  return values;
}

/// Where the cluster stands already, by itself or by default; the middle of a range that this is beyond.
Place start_of(const std::vector<FitParameter>& parameters, const Params& cluster) {
  constexpr double middle = 0.5;
  const Settings values = layered(defaults_of(Backends::parameters("sim")), cluster.values());
  Place start;
  for (const FitParameter& parameter : parameters)
    start.push_back(parameter.place_of_text(values.at(parameter.key())).value_or(middle));
  return start;
}

void require_free(const std::vector<Measurement>& table, const std::vector<FitParameter>& parameters) {
  require(table.size() > parameters.size(), "--fit: ", parameters.size(), " parameters need more than ", table.size(),
          " measurements; give more of them, or fit fewer parameters");
  for (const Measurement& row : table) {
    for (const FitParameter& parameter : parameters)
      require(!row.settings.contains("cluster." + parameter.key()), row.place, "column 'cluster.", parameter.key(),
              "': a row cannot give what is fitted; leave its cell empty");
  }
}

std::vector<Predicted> predicted_at(const CalibrateFrom& asked, const std::vector<Measurement>& table,
                                    Predictor& predictor, const FitProblem& problem, const Place& place) {
  std::vector<PlannedMeasurement> planned;
  for (const Measurement& row : table) planned.push_back({&row, asked.cluster, values_at(problem.parameters, place)});
  return predictor.predict(planned);
}

/// The table as a problem of least squares. `table` and `predictor` must outlive it.
FitProblem problem_of(const CalibrateFrom& asked, const std::vector<Measurement>& table, Predictor& predictor) {
  FitProblem problem;
  problem.parameters = read_fit_parameters(asked.parameters);
  problem.start = start_of(problem.parameters, read_cluster(asked.cluster));
  require_free(table, problem.parameters);
  for (const Measurement& row : table) {
    problem.rows.push_back({row.seconds, row.source});
    predictor.check({&row, asked.cluster, values_at(problem.parameters, problem.start)});
  }
  problem.predict = [&, parameters = problem.parameters](const Place& place, const std::vector<std::size_t>& rows) {
    const Settings values = values_at(parameters, place);
    std::vector<PlannedMeasurement> planned;
    for (const std::size_t row : rows) planned.push_back({&table[row], asked.cluster, values});
    Seconds seconds;
    for (const Predicted& one : predictor.predict(planned)) seconds.push_back(one.seconds);
    return seconds;
  };
  return problem;
}

/// A fit and what it says of rows that it has not seen.
struct Judged {
  Fit fit;
  Seconds rows_out, sources_out;
};

std::string row_table(const std::vector<Measurement>& table, const Judged& judged) {
  constexpr double hundred = 100;
  const auto error = [&](const Seconds& predicted, std::size_t row) {
    return predicted.empty() ? "-" : short_number(hundred * (predicted[row] / table[row].seconds - 1));
  };
  std::vector<std::vector<std::string>> rows = {
      {"line", "source", "measured (s)", "fitted (s)", "error (%)", "row left out (%)", "source left out (%)"}};
  for (std::size_t i = 0; i < table.size(); ++i)
    rows.push_back({std::to_string(table[i].line), table[i].source.empty() ? "-" : table[i].source,
                    short_number(table[i].seconds), short_number(judged.fit.predicted[i]),
                    error(judged.fit.predicted, i), error(judged.rows_out, i), error(judged.sources_out, i)});
  return aligned(rows);
}

/// What was found, a line each: for the screen, and as comments of the file.
std::vector<std::string> findings(const FitProblem& problem, const Judged& judged) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < problem.parameters.size(); ++i)
    lines.push_back(problem.parameters[i].key() + " = " +
                    words_of(problem.parameters[i], judged.fit.place[i], judged.fit.intervals[i]));
  for (const BlindDirection& blind : judged.fit.blind) lines.push_back(words_of(problem, judged.fit, blind));
  lines.push_back("mean error: " + percent_text(mean_error(problem.rows, judged.fit.predicted)) +
                  " of the rows that were fitted, " + percent_text(mean_error(problem.rows, judged.rows_out)) +
                  " of each row when it is left out" +
                  (judged.sources_out.empty() ? ""
                                              : ", " + percent_text(mean_error(problem.rows, judged.sources_out)) +
                                                    " of each source when it is left out"));
  return lines;
}

/// Errors of what was left out, by source where there are several, by what took most of each row's time.
ErrorBars error_bars(const FitProblem& problem, const Judged& judged, const std::vector<Predicted>& predicted) {
  const Seconds& out = judged.sources_out.empty() ? judged.rows_out : judged.sources_out;
  std::map<Regime, ErrorBar> squares;
  ErrorBar all;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double square = std::pow(out[i] / problem.rows[i].seconds - 1, 2);
    for (ErrorBar* bar : {&all, &squares[predicted[i].regime]}) {
      bar->error += square;
      ++bar->rows;
    }
  }
  const auto root = [](const ErrorBar& sum) { return ErrorBar{std::sqrt(sum.error / sum.rows), sum.rows}; };
  ErrorBars bars;
  bars.add(root(all));
  for (const auto& [regime, sum] : squares) bars.add(regime, root(sum));
  return bars;
}

std::string cluster_text(const CalibrateFrom& asked, const FitProblem& problem, const Fit& found, const ErrorBars& bars,
                         const std::vector<std::string>& comments) {
  std::string text = "# Fitted by trigram calibrate to " + std::to_string(problem.rows.size()) +
                     " measurements, from " + shown(asked.cluster) + ".\n";
  for (const std::string& comment : comments) text += "# " + comment + "\n";
  Settings cluster = read_cluster(asked.cluster).values();
  for (std::size_t i = 0; i < problem.parameters.size(); ++i)
    cluster[problem.parameters[i].key()] = problem.parameters[i].rounded(found.place[i]);
  cluster[ErrorBars::key] = bars.text();
  for (const auto& [key, value] : cluster) text += key + " = " + value + "\n";
  return text;
}

}  // namespace

void calibrate_from(const CalibrateFrom& asked) {
  const std::vector<Measurement> table = read_measurements(asked.table);
  Predictor predictor(asked.source);
  const FitProblem problem = problem_of(asked, table, predictor);
  if (!asked.out.empty()) require_writable_file(asked.out);
  Judged judged{fit(problem), {}, {}};
  std::vector<Predicted> fitted;
  GatheredQuestions each;
  each.ask([&] { judged.rows_out = left_out(problem, judged.fit); });
  each.ask([&] { judged.sources_out = sources_left_out(problem, judged.fit); });
  each.ask([&] { fitted = predicted_at(asked, table, predictor, problem, judged.fit.place); });
  each.require_all();
  if (!asked.source.makes) return;
  const std::vector<std::string> lines = findings(problem, judged);
  std::cout << row_table(table, judged) << "\n";
  for (const std::string& line : lines) std::cout << line << "\n";
  const ErrorBars bars = error_bars(problem, judged, fitted);
  const std::string file = cluster_text(asked, problem, judged.fit, bars, lines);
  std::cout << "\n" << file;
  if (!asked.out.empty()) write_file(asked.out, file);
}

}  // namespace trigram
