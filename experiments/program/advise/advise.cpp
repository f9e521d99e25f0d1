// trigram advise: which method would make the steps of a training shorter on a cluster, and what each risks.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "core/step/algorithm.hpp"
#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/fit/predictions/predictor.hpp"
#include "experiments/program/advise/advice.hpp"
#include "experiments/program/advise/methods.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/flags/flags_of_run.hpp"
#include "experiments/program/flags/subcommand.hpp"
#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/program/scripts/page.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/settings/files/shell_word.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"

namespace trigram {
namespace {

constexpr double least_gain = 1.02;       // what is less is no reason to change a training
constexpr std::size_t most_detailed = 3;  // methods that are told of, beside today's
constexpr int draws_by_default = 16;      // which take about as long again as a simulation of each method

struct AdviseFlags {
  explicit AdviseFlags(Params& flags) : uncertainty(flags, draws_by_default) {
    std::istringstream words(flags.get("methods", "", "methods to try, apart by commas; empty: all"));
    for (std::string word; std::getline(words, word, ',');) choice.names.push_back(word);
    choice.keep_accuracy = flags.get("keep-accuracy", false, "only methods that compute what all_reduce computes");
    choice.max_staleness = flags.get("max-staleness", std::int64_t{-1},
                                     "steps that what is averaged may be old; -1: any", {-1, 1'000'000'000});
    page = flags.get("html", "", "file of the same as a page to explore, as advice.html; empty: none");
    if (!page.empty()) require_folder_of(page);
    jobs = flags.get("jobs", 0, "simulations at a time; 0: one a core", {0, 1024});
    if (jobs == 0) jobs = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  }

  MethodChoice choice;
  /// Before anything is simulated.
  static void require_folder_of(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    require(std::filesystem::is_directory(folder), "trigram advise: --html ", Quoted(file), ": there is no folder ",
            Quoted(folder.native()));
  }

  std::string page;
  int jobs = 0;
  UncertaintyFlags uncertainty;
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

/// A training that is a table has no model that could borrow its times.
Settings phantom(Settings given) {
  if (const auto profile = given.find("profile"); profile != given.end()) {
    given["workload"] = profile_workload(profile->second);
    given.erase("profile");
  }
  return given;
}

/// The script that is advised leaves steps to PyTorch's optimizers, which wait for the end of backward.
Settings stepped_by_pytorch(Settings given) {
  given.try_emplace("optimizer-in-backward", "off");
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
  const std::string& cluster = run.at("cluster");
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
      {"method", "step (ms)", "gain", "faster with", "MB sent", "between nodes", "trigram"}};
  for (const Advice& one : ordered) {
    const Predicted& of = one.predicted;
    cells.push_back({one.method.name, decimal(1e3 * of.seconds, 4),
                     decimal(today.predicted.seconds / of.seconds, 3) + "x",
                     one.method.name == today.method.name ? "-" : share_in_percent(chance_of_gain(one, today)),
                     megabytes(of.bytes), megabytes(of.between), Algorithms::make(one.method.name)->trigram().words()});
  }
  return aligned(cells);
}

/// "68 % of 16 draws lie from 91 to 104 ms, 95 % from 85 to 120".
std::string range_text(const Advice& one) {
  const Spread& of = one.range.seconds;
  const auto ends = [](const CentralRange& range) {
    return decimal(1e3 * range.least, 4) + " to " + decimal(1e3 * range.most, 4);
  };
  return "68 % of " + std::to_string(one.range.draws.size()) + " draws from " + ends(of.of_68) + " ms, 95 % from " +
         ends(of.of_95);
}

/// How well today's time is known, and what most of the doubt comes from.
std::string doubt(const Advice& today, const std::string& cluster) {
  if (today.range.draws.empty()) return "";
  return "\n" + today.method.name + " today: " + range_text(today) + "\n" + decided_by(today.range.shares, cluster) +
         model_line(today.range);
}

/// What the fastest risk, and the line that brings each into a script.
std::string details(const std::vector<Advice>& faster, const Advice& today) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most_detailed, faster.size()); ++i) {
    const std::string& name = faster[i].method.name;
    const Description& says = Algorithms::describe(name);
    text += "\n" + name + ": " + says.summary + "\n";
    if (!faster[i].range.draws.empty())
      text += "  step    " + range_text(faster[i]) + "; faster than today with " +
              share_in_percent(chance_of_gain(faster[i], today)) + "\n";
    text += "  risks   " + says.when_not + " (experiments/studies/will_it_learn.md)\n" + "  script  " +
            script_of(name) + "\n";
  }
  return text;
}

std::string verdict(const std::vector<Advice>& faster, const Advice& today) {
  const Predicted& now = today.predicted;
  const std::string computing = decimal(100 * (1 - now.waits / now.seconds), 3) + " % of a step is computing";
  if (faster.empty()) return "nothing will help: " + computing + ", and no method that fits is faster by 2 % or more\n";
  const double gain = now.seconds / faster.front().predicted.seconds;
  return faster.front().method.name + " would make a step " + decimal(gain, 3) + " times as fast as " +
         today.method.name + " today, and be faster with a probability of " +
         share_in_percent(chance_of_gain(faster.front(), today)) + "; " + computing + "\n";
}

/// Draws of today's and of the fastest, which are the same ones.
void add_ranges(const Settings& run, const AdviseFlags& flags, Advice& today, std::vector<Advice>& faster,
                std::vector<Advice>& ordered) {
  std::vector<Advice*> told{&today};
  for (std::size_t i = 0; i < std::min(most_detailed, faster.size()); ++i) told.push_back(&faster[i]);
  std::vector<UncertainQuestion> questions;
  for (const Advice* one : told) {
    Settings settings = run;
    settings["algorithm"] = one->method.simulated;
    settings["steps"] = std::to_string(one->method.steps);
    settings = resolved(with_system(settings, run_flags()), run_defaults());
    questions.push_back({settings, "", "", one->method.name + ": "});
  }
  const std::vector<UncertainTime> times = uncertain_times(questions, flags.uncertainty.with(flags.jobs));
  for (std::size_t i = 0; i < told.size(); ++i) {
    told[i]->range = times[i];
    for (Advice& one : ordered) {
      if (one.method.name == told[i]->method.name) one.range = times[i];
    }
  }
}

/// The command again, behind the subcommand's name.
std::string command_of(const Settings& flags) {
  std::string words;
  for (const auto& [key, value] : flags) words += (words.empty() ? "--" : " --") + key + " " + shell_word(value);
  return words;
}

/// What the page shows, as the script behind it reads it.
nlohmann::json facts_of_page(const std::vector<Advice>& all, const Advice& today, const std::vector<Advice>& ordered,
                             const std::vector<Advice>& faster) {
  nlohmann::json page{{"today", today.method.name}};
  page["methods"] = page["fastest"] = page["left_out"] = nlohmann::json::array();
  for (const Advice& one : ordered) page["methods"].push_back(facts_of(one, today));
  for (std::size_t i = 0; i < std::min(most_detailed, faster.size()); ++i)
    page["fastest"].push_back(faster[i].method.name);
  for (const Advice& one : all) {
    if (!one.refusal.empty()) page["left_out"].push_back({{"name", one.method.name}, {"why", one.refusal}});
  }
  return page;
}

int advise(const Arguments& arguments) {
  const CommandLine command_line = advise_command_line();
  if (command_line.helped(arguments)) return 0;
  const Settings words = command_line.parse(arguments);
  const OwnAndRun given = parted(words, declared_flags<AdviseFlags>("trigram advise"));
  Params params = as_params("trigram advise", given.own);
  const AdviseFlags flags(params);
  const Settings run = stepped_by_pytorch(with_cluster(phantom(given.run)));
  const std::string now = run.contains("algorithm") ? run.at("algorithm") : "all_reduce";
  std::vector<Method> all = methods(flags.choice);
  std::erase_if(all, [&](const Method& one) { return one.name == now; });
  all.insert(all.begin(), Method{now, now, 4});
  const std::vector<Advice> advice = predicted(all, run, flags.jobs);
  Advice today = advice.front();
  std::vector<Advice> ordered, faster;
  for (const Advice& one : advice) {
    if (one.refusal.empty()) ordered.push_back(one);
  }
  std::ranges::stable_sort(ordered, {}, [](const Advice& one) { return one.predicted.seconds; });
  std::ranges::copy_if(ordered, std::back_inserter(faster),
                       [&](const Advice& one) { return today.predicted.seconds > least_gain * one.predicted.seconds; });
  if (flags.uncertainty.draws > 0) add_ranges(run, flags, today, faster, ordered);
  const std::string& cluster = run.at("cluster");
  std::cout << verdict(faster, today) << "\n"
            << table_of_methods(ordered, today) << doubt(today, cluster) << details(faster, today);
  for (const Advice& one : advice) {
    if (!one.refusal.empty()) std::cout << "\nleft out: " << one.refusal << "\n";
  }
  if (flags.page.empty()) return 0;
  std::cout << "\n" << std::flush;
  nlohmann::json page = facts_of_page(advice, today, ordered, faster);
  page["text"] = verdict(faster, today) + doubt(today, cluster);
  page["command"] = command_of(words);
  return write_page(flags.page, page);
}

}  // namespace

const Subcommand advise_subcommand = {"advise", "predict which method makes a training faster", advise};

}  // namespace trigram
