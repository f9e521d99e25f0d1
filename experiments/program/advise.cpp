// trigram advise: which method would make the steps of a training shorter on a cluster, and what each risks.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "core/algorithm.hpp"
#include "core/decimal.hpp"
#include "core/error.hpp"
#include "experiments/fit/predictor.hpp"
#include "experiments/program/command_line.hpp"
#include "experiments/program/flags_of_run.hpp"
#include "experiments/program/methods.hpp"
#include "experiments/program/subcommand.hpp"
#include "experiments/program/tables.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {
namespace {

constexpr double least_gain = 1.02;  // what is less is no reason to change a training

struct AdviseFlags {
  explicit AdviseFlags(Params& flags) {
    std::istringstream words(flags.get("methods", "", "methods to try, apart by commas; empty: all"));
    for (std::string word; std::getline(words, word, ',');) choice.names.push_back(word);
    choice.keep_accuracy = flags.get("keep-accuracy", false, "only methods that compute what all_reduce computes");
    choice.max_staleness = flags.get("max-staleness", std::int64_t{-1},
                                     "steps that what is averaged may be old; -1: any", {-1, 1'000'000'000});
    jobs = flags.get("jobs", 0, "simulations at a time; 0: one a core", {0, 1024});
  }

  MethodChoice choice;
  int jobs = 0;
};

/// Of a run, where advice has its own or none.
const std::set<std::string> decided_by_advice{"out",    "progress",         "record", "trace",  "checkpoint",
                                              "resume", "checkpoint-every", "steps",  "config", "backend"};

CommandLine advise_command_line() {
  return {
      "advise",
      "Predicts the time of a step with each method, beside the one that is used today (--algorithm), and says what\n"
      "each risks. --profile is a table of yours, as import writes it, or a name of list profiles.",
      "trigram advise --profile results/mine/profile.csv --cluster results/mine/cluster.cfg --bucket-size 25MiB",
      beside_flags_of_run(declared_flags<AdviseFlags>("trigram advise"), decided_by_advice)};
}

/// A method that was simulated, or why it was not.
struct Advice {
  Method method;
  Predicted predicted;
  std::string refusal;
};

/// A training that is a table has no model that could borrow its times.
Settings phantom(Settings given) {
  if (const auto profile = given.find("profile"); profile != given.end()) {
    given["workload"] = profile_workload(profile->second);
    given.erase("profile");
  }
  return given;
}

Measurement row_of(const Settings& run, const Method& method) {
  Measurement row;
  row.place = method.name + ": ";
  row.settings = run;
  row.settings.erase("cluster");
  row.settings["algorithm"] = method.simulated;
  row.settings["steps"] = std::to_string(method.steps);
  return row;
}

/// All of them; the first is what runs today.
std::vector<Advice> predicted(const std::vector<Method>& all, const Settings& run, int jobs) {
  std::vector<Advice> advice;
  std::vector<Measurement> rows;
  for (const Method& one : all) rows.push_back(row_of(run, one));
  const std::string cluster = run.contains("cluster") ? run.at("cluster") : run_defaults().at("cluster");
  Predictor predictor(jobs);
  std::vector<PlannedMeasurement> possible;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PlannedMeasurement planned{&rows[i], cluster, {}};
    advice.push_back({all[i], {}, ""});
    try {
      predictor.check(planned);
      possible.push_back(planned);
    } catch (const UsageError& error) {
      if (i == 0) throw;
      advice.back().refusal = error.what();
    }
  }
  const std::vector<Predicted> times = predictor.predict(possible);
  for (std::size_t i = 0, next = 0; i < advice.size(); ++i) {
    if (advice[i].refusal.empty()) advice[i].predicted = times[next++];
  }
  return advice;
}

std::string megabytes(double bytes) { return decimal(bytes / 1e6, 3); }

std::string table_of_methods(const std::vector<Advice>& ordered, const Advice& today) {
  std::vector<std::vector<std::string>> cells = {
      {"method", "step (ms)", "gain", "MB sent", "between nodes", "trigram"}};
  for (const Advice& one : ordered) {
    const Predicted& of = one.predicted;
    cells.push_back({one.method.name, decimal(1e3 * of.seconds, 4),
                     decimal(today.predicted.seconds / of.seconds, 3) + "x", megabytes(of.bytes), megabytes(of.between),
                     Algorithms::make(one.method.name)->trigram().words()});
  }
  return aligned(cells);
}

/// What the three fastest risk, and the line that brings each into a script.
std::string details(const std::vector<Advice>& faster) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, faster.size()); ++i) {
    const std::string& name = faster[i].method.name;
    const Description& says = Algorithms::describe(name);
    text += "\n" + name + ": " + says.summary + "\n  risks   " + says.when_not +
            " (experiments/studies/will_it_learn.md)\n" + "  script  trigram.with_trigram(model, [optimizer], \"" +
            name + "\")\n";
  }
  return text;
}

std::string verdict(const std::vector<Advice>& faster, const Advice& today) {
  const Predicted& now = today.predicted;
  const std::string computing = decimal(100 * (1 - now.waits / now.seconds), 3) + " % of a step is computing";
  if (faster.empty()) return "nothing will help: " + computing + ", and no method that fits is faster by 2 % or more\n";
  const double gain = now.seconds / faster.front().predicted.seconds;
  return faster.front().method.name + " would make a step " + decimal(gain, 3) + " times as fast as " +
         today.method.name + " today; " + computing + "\n";
}

int advise(const Arguments& arguments) {
  const CommandLine command_line = advise_command_line();
  if (command_line.helped(arguments)) return 0;
  const OwnAndRun given = parted(command_line.parse(arguments), declared_flags<AdviseFlags>("trigram advise"));
  Params params = as_params("trigram advise", given.own);
  const AdviseFlags flags(params);
  const Settings run = phantom(given.run);
  const std::string now = run.contains("algorithm") ? run.at("algorithm") : "all_reduce";
  std::vector<Method> all = methods(flags.choice);
  std::erase_if(all, [&](const Method& one) { return one.name == now; });
  all.insert(all.begin(), Method{now, now, 4});
  std::vector<Advice> advice =
      predicted(all, run, flags.jobs > 0 ? flags.jobs : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  const Advice today = advice.front();
  std::vector<Advice> ordered, faster;
  for (const Advice& one : advice) {
    if (one.refusal.empty()) ordered.push_back(one);
  }
  std::ranges::stable_sort(ordered, {}, [](const Advice& one) { return one.predicted.seconds; });
  std::ranges::copy_if(ordered, std::back_inserter(faster),
                       [&](const Advice& one) { return today.predicted.seconds > least_gain * one.predicted.seconds; });
  std::cout << verdict(faster, today) << "\n" << table_of_methods(ordered, today) << details(faster);
  for (const Advice& one : advice) {
    if (!one.refusal.empty()) std::cout << "\nleft out: " << one.refusal << "\n";
  }
  return 0;
}

}  // namespace

const Subcommand advise_subcommand = {"advise", "predict which method makes a training faster", advise};

}  // namespace trigram
