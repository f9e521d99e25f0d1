#include "experiments/program/calibrate/calibrate_quick.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <span>

#include "core/registry/registry.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "core/values/units.hpp"
#include "experiments/fit/fit_words.hpp"
#include "experiments/fit/predictions/predictor.hpp"
#include "experiments/measure/probes/second_probes.hpp"
#include "experiments/measure/ranges_of_sets.hpp"
#include "experiments/measure/rank_samples.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/record/report_file.hpp"

namespace trigram {
namespace {

/// Messages as small and as large as decide between latency and bandwidth, three rounds a set.
ProbePlan quick_plan(bool phantom) {
  constexpr std::int64_t kib = 1024;
  return {{0, 32 * kib, 128 * kib, 512 * kib, 2048 * kib}, 3, phantom};
}

/// Sets of probes until another would take more than its share of the time, on which all ranks agree; then others.
std::vector<std::byte> measure_quickly(RankRuntime& runtime, const ClusterSamples& samples, double seconds) {
  constexpr double share = 0.6;  // the rest is for the second probes, for opening connections, and for predicting
  const std::size_t most = samples.plan.phantom ? 2 : 12;
  std::vector<std::vector<std::byte>> sets;
  const double begin = runtime.now();
  for (bool another = true; another;) {
    sets.push_back(measure_rank(runtime, samples, ""));
    const auto count = static_cast<double>(sets.size());
    const double with_another = runtime.max_seconds(runtime.now() - begin) * (count + 1) / count;
    another = sets.size() < most && with_another < share * seconds;
  }
  Packer packer;
  packer.put(static_cast<std::uint64_t>(sets.size()));
  for (const std::vector<std::byte>& set : sets) packer.put_all(std::span<const std::byte>(set));
  packer.put_all(std::span<const double>(probe_again(runtime, samples.plan.phantom)));
  return std::move(packer).bytes();
}

/// What all ranks measured.
struct QuickSets {
  std::vector<ClusterSamples> sets;
  std::vector<TimedAmount> second;
};

QuickSets unpacked(const ClusterSamples& samples, const Outcome& outcome) {
  QuickSets all;
  std::vector<std::vector<double>> again;
  for (const std::vector<std::byte>& bytes : outcome.results) {
    Unpacker unpacker(bytes);
    all.sets.resize(unpacker.take<std::uint64_t>(), samples);
    for (ClusterSamples& set : all.sets) add_rank(unpacker.take_all<std::byte>(), set);
    again.push_back(unpacker.take_all<double>());
  }
  all.second = second_times(again);
  return all;
}

std::string file_of(const QuickSets& measured, const std::string& origin) {
  std::vector<std::string> sets;
  for (const ClusterSamples& set : measured.sets) sets.push_back(cluster_file(MeasuredCluster(set), ""));
  return with_ranges(cluster_file(MeasuredCluster(pooled(measured.sets)), origin), sets);
}

/// The second probes as the file predicts them, from a copy of it that lasts as long.
std::vector<Predicted> predicted_by(const std::string& file, int ranks) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("trigram_quick_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::filesystem::path copy = folder / "measured.cfg";
  write_file(copy, file);
  std::vector<Measurement> rows;
  for (const SecondProbe& probe : second_probes()) {
    Measurement row;
    row.place = "the second probes: ";
    row.settings["ranks"] = std::to_string(ranks);
    row.settings["fidelity"] = "exact";  // which knows of handshakes too
    row.op = probe.op;
    row.size = std::to_string(probe.bytes) + "B";
    rows.push_back(row);
  }
  std::vector<PlannedMeasurement> planned;
  for (const Measurement& row : rows) planned.push_back({&row, copy.string(), {}});
  const std::vector<Predicted> all = Predictor(1).predict(planned);
  std::filesystem::remove_all(folder);
  return all;
}

/// Errors of the second probes, as a table for the screen and as bars for the file.
struct SecondErrors {
  std::string table;
  ErrorBars bars;
  double mean = 0, worst = 0;  ///< of |predicted / measured - 1|
};

SecondErrors errors_of(const std::vector<TimedAmount>& measured, const std::vector<Predicted>& predicted) {
  constexpr double microseconds = 1e6, hundred = 100;
  SecondErrors result;
  std::map<Regime, ErrorBar> squares;
  ErrorBar all;
  std::vector<std::vector<std::string>> rows = {
      {"second probe", "size (B)", "measured (us)", "predicted (us)", "error (%)"}};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double error = predicted[i].seconds / measured[i].seconds - 1;
    rows.push_back({second_probes()[i].op, short_number(measured[i].amount),
                    short_number(microseconds * measured[i].seconds), short_number(microseconds * predicted[i].seconds),
                    short_number(hundred * error)});
    for (ErrorBar* bar : {&all, &squares[predicted[i].regime]}) {
      bar->error += error * error;
      ++bar->rows;
    }
    result.mean += std::abs(error) / static_cast<double>(measured.size());
    result.worst = std::max(result.worst, std::abs(error));
  }
  const auto root = [](const ErrorBar& sum) { return ErrorBar{std::sqrt(sum.error / sum.rows), sum.rows}; };
  result.bars.add(root(all));
  for (const auto& [regime, sum] : squares) result.bars.add(regime, root(sum));
  result.table = aligned(rows);
  return result;
}

/// In tenths of a percent.
std::string rounded_percent(double share) { return percent_text(std::round(1000 * share) / 1000); }

/// The file with what it was found to be off by, and the words for the screen.
void report_quick(const QuickCalibration& asked, std::string file, const QuickSets& measured, int ranks) {
  std::string said;
  if (Backends::has("sim")) {
    const SecondErrors off = errors_of(measured.second, predicted_by(file, ranks));
    const std::string words = "predicts " + std::to_string(measured.second.size()) +
                              " collectives that it was not fitted to " + rounded_percent(off.mean) +
                              " off on average, " + rounded_percent(off.worst) + " at worst";
    said = off.table + "this file " + words + "\n\n";
    file += "\n# This file " + words + ".\n" + ErrorBars::key + " = " + off.bars.text() + "\n";
  } else {
    said = "how far off it predicts is not known: this build has no simulator\n\n";
  }
  std::cout << said << file;
  if (!asked.out.empty()) write_file(asked.out, file);
}

}  // namespace

void calibrate_quickly(const QuickCalibration& asked, ClusterSamples samples, Backend& backend, const World& world) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  samples.plan = quick_plan(backend.simulated());
  const Outcome outcome =
      backend.run(world, [&](RankRuntime& runtime) { return measure_quickly(runtime, samples, asked.seconds); });
  if (backend.process_rank() != 0) return;
  const QuickSets measured = unpacked(samples, outcome);
  const auto took = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
  const std::string origin = "Measured by trigram calibrate --quick on " + asked.where + " in " + std::to_string(took) +
                             " s: " + std::to_string(world.ranks) + " ranks on " +
                             std::to_string(samples.node_of_rank.back() + 1) +
                             " nodes. Ranges are the least and the most of " + std::to_string(measured.sets.size()) +
                             " sets of probes, each fitted by itself.";
  report_quick(asked, file_of(measured, origin), measured, world.ranks);
}

}  // namespace trigram
