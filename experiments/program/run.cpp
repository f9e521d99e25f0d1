// trigram run: one training, its files, and a few lines for people.
#include <iostream>

#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/flags/flags_of_run.hpp"
#include "experiments/program/run_uncertainty.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/record/warnings.hpp"
#include "experiments/settings/files/shell_word.hpp"
#include "experiments/settings/system.hpp"
#include "processes/interruption.hpp"

namespace trigram {
namespace {

std::vector<Params::Declared> with_uncertainty(std::vector<Params::Declared> flags) {
  for (Params::Declared flag : declared_flags<RunUncertaintyFlags>("trigram run")) {
    flag.group = "how well it is known";
    flags.push_back(flag);
  }
  return flags;
}

CommandLine run_command_line() {
  return {
      "run", "Trains once and writes run.json, steps.csv and evals.csv.",
      "trigram run --cluster two_by_four:nic_bandwidth=1Gbps --algorithm bytegrad --steps 50 --out results/bytegrad",
      with_uncertainty(run_flags())};
}

Settings given_settings(const Arguments& arguments) {
  Settings given = run_command_line().parse(arguments);
  if (const auto file = given.find("config"); file != given.end()) {
    const std::string path = file->second;
    given.erase(file);
    given = layered(read_settings(path), given);
  }
  return resolved(with_system(given, run_flags()), run_defaults());
}

std::string text_of(const nlohmann::json& value) {
  constexpr int digits = 4;
  return value.is_number() ? decimal(value.get<double>(), digits) : "none";
}

/// What the backend says it ran on, where it does.
std::string uses_line(const nlohmann::json& facts) {
  return facts.is_object() && facts.contains("uses") ? "  uses       " + facts["uses"].get<std::string>() + "\n" : "";
}

/// By which two runs can be seen to end at the same bits.
std::string weights_line(const nlohmann::json& weights) {
  if (weights.is_null()) return "";
  return "  weights    " + weights["digest"].get<std::string>() +
         (weights["equal_on_all_ranks"].get<bool>() ? ", the same on all ranks\n" : ", of all ranks, which differ\n");
}

/// Of all ranks, where the cluster has rates for it.
std::string expense_lines(const nlohmann::json& summary) {
  std::string text;
  if (summary["energy_J"].is_number()) text += "  energy     " + text_of(summary["energy_J"]) + " J\n";
  if (summary["money_USD"].is_number()) text += "  money      " + text_of(summary["money_USD"]) + " USD\n";
  return text;
}

/// How members changed, and on a model's clock what that cost.
std::string member_line(const nlohmann::json& run) {
  if (!run.contains("membership")) return "";
  const nlohmann::json& members = run["membership"];
  const std::string text = "  members    " + std::to_string(members["epochs"].size()) + " epochs, the last of " +
                           members["epochs"].back()["ranks"].dump() + " ranks";
  if (members["goodput"].is_null()) return text + "\n";
  return text + ", goodput " + text_of(members["goodput"]) + ", recovery " + text_of(members["recovery_s"]) + " s\n";
}

/// How far off the iteration may be, where the cluster's calibration says so.
std::string error_line(const nlohmann::json& bar) {
  if (bar.is_null()) return "";
  return "  error bar  " + error_bar_text(bar["error"].get<double>()) + " of the iteration (calibrated on " +
         std::to_string(bar["rows"].get<int>()) + " measurements; bound by " + bar["regime"].get<std::string>() + ")\n";
}

void print_summary(const nlohmann::json& run, const RunConfig& config) {
  const nlohmann::json& summary = run["summary"];
  std::cout << run["workload"]["description"].get<std::string>() << ", " << config.training.algorithm << " on "
            << run["configuration"]["ranks"] << " ranks"
            << (config.world.mesh.empty() ? "" : " (" + config.world.mesh + ")") << " of " << config.place.where()
            << "\n"
            << "  iteration  " << text_of(summary["iteration_s"]) << " s mean, "
            << text_of(summary["iteration_median_s"]) << " s median, " << text_of(summary["samples_per_s"])
            << " samples/s\n"
            << error_line(run["error_bar"]) << "  sent       " << text_of(summary["bytes_per_step_mean"])
            << " bytes per step and rank, " << text_of(summary["bytes_per_step_inside_nodes"]) << " inside nodes and "
            << text_of(summary["bytes_per_step_between_nodes"]) << " between them\n"
            << expense_lines(summary) << member_line(run) << "  loss       " << text_of(summary["loss"]) << "\n"
            << "  accuracy   " << text_of(summary["accuracy"]) << "\n"
            << "  took       " << text_of(summary["clock_s"]) << " s on the backend's clock, "
            << text_of(summary["wall_s"]) << " s to run\n"
            << weights_line(run["weights"]) << uses_line(run["backend"]) << "  files      " << config.out.string()
            << "/\n";
}

/// The command that resumes from the checkpoints that this one left.
std::string command_that_goes_on(const Arguments& arguments, const RunConfig& config) {
  std::string text = "trigram run";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--resume") {
      ++i;
    } else if (!arguments[i].starts_with("--resume=")) {
      text += " " + shell_word(arguments[i]);
    }
  }
  return text + " --resume " + shell_word(config.checkpoint.string());
}

TellRemains remains_of(const Arguments& arguments, const RunConfig& config) {
  return [&](const Remains& remains) {
    if (!remains.folder.empty()) {
      std::cerr << "trigram: the run has ended early, after " << remains.steps << " of " << remains.of
                << " steps; their rows are in " << remains.folder.string() << "/, whose run.json says so\n";
    }
    if (remains.checkpoint > 0) {
      std::cerr << "trigram: it resumes from the checkpoint after step " << remains.checkpoint
                << " by: " << command_that_goes_on(arguments, config) << "\n";
    }
  };
}

int run(const Arguments& arguments) {
  if (run_command_line().helped(arguments)) return 0;
  const auto [own, given] = parted(given_settings(arguments), declared_flags<RunUncertaintyFlags>("trigram run"));
  Params own_flags = as_params("trigram run", own);
  const RunUncertaintyFlags uncertainty(own_flags);
  const RunConfig config("trigram run", given);
  require(!uncertainty.given || uncertainty.draws == 0 || config.backend.make()->simulated(),
          "trigram run: --uncertainty draws from what a simulated cluster states; backend ",
          Quoted(config.backend.backend), " is none: use --backend sim, or leave --uncertainty out");
  std::optional<nlohmann::json> run;
  try {
    run = record_run(config, "", remains_of(arguments, config));
  } catch (const Interruption& interruption) {
    std::cerr << "trigram: " << interruption.what() << std::endl;
    return interruption.exit_code();
  }
  if (!run) return 0;
  print_warnings(warnings_of((*run)["backend"]));
  print_summary(*run, config);
  if (uncertainty.draws > 0) std::cout << draw_uncertainty(given, uncertainty, config, *run);
  return 0;
}

}  // namespace

const Subcommand run_subcommand = {"run", "train once", run, true};

}  // namespace trigram
