// trigram study: many runs as one file describes them, their table and their pictures.
#include <unistd.h>

#include <iostream>

#include "core/error.hpp"
#include "core/report.hpp"
#include "experiments/build_facts.hpp"
#include "experiments/command_line.hpp"
#include "experiments/places.hpp"
#include "experiments/plotting.hpp"
#include "experiments/selection.hpp"
#include "experiments/study_calibration.hpp"
#include "experiments/study_files.hpp"
#include "experiments/tables.hpp"

namespace trigram {
namespace {

constexpr int interrupted_exit = 130;

struct StudyFlags {
  std::filesystem::path file, out;
  int jobs;
  bool plots;
};

std::vector<Params::Declared> declared_flags() {
  return {{"out", "text", "", "folder of the results; empty: results/NAME"},
          {"jobs", "integer", "0", "runs at a time; 0: one a core"},
          {"plot", "on|off", "on", "draw pictures at the end"}};
}

StudyFlags read_flags(const Settings& given) {
  Params flags("trigram study", "");
  for (const auto& [key, value] : given) flags.set(key, value);
  const std::string name = flags.get("STUDY", "", "name or file");
  require(!name.empty(), "trigram study: name a study or its file; trigram list studies shows those that are shipped");
  StudyFlags read{find_config("studies", "study", name), flags.get("out", "", ""), flags.get("jobs", 0, "", {0, 1024}),
                  flags.get("plot", true, "")};
  if (read.jobs == 0) read.jobs = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (read.out.empty()) read.out = std::filesystem::path("results") / read.file.stem();
  return read;
}

nlohmann::json published_facts(const Published& published) {
  nlohmann::json points = nlohmann::json::array();
  for (const auto& [series, curve] : published) {
    for (const auto& [x, value] : curve) points.push_back({{"series", series}, {"x", x}, {"value", value}});
  }
  return points;
}

std::string calibration_lines(const Calibrated& found) {
  std::string text;
  for (const auto& [key, value] : found.values) text += "calibrated " + key + " = " + value + "\n";
  return text;
}

std::string choice_lines(const Selected& selected) {
  std::string text;
  for (const nlohmann::json& choice : selected.choices) {
    text += "chosen for " + choice["row"].get<std::string>() + ": " + choice["flag"].get<std::string>() + " = " +
            choice["chosen"].get<std::string>() + "\n";
  }
  return text;
}

std::string tables(const Study& study, const Published& published, const std::vector<StudyResult>& main,
                   const std::vector<StudyResult>& variants) {
  std::string text = measure_table(study, main);
  if (study.goal) text += "\n" + goal_table(study, main);
  if (study.target)
    text += "\n" + error_table(study, compare(study, published, main), compare(study, published, variants));
  return text;
}

void conduct(const Study& study, const StudyFlags& flags) {
  require_writable(flags.out);
  const Published published = study.target ? read_published(*study.target) : Published{};
  RunPool pool(flags.out, flags.jobs);
  const Calibrated found = calibrate(study, published, pool);
  const Selected selected = select(study, main_points(study, found.values), pool);
  const std::vector<StudyResult> main = pool.run(selected.points, "runs");
  const std::vector<StudyResult> variants = pool.run(variant_points(study, found.values), "runs of variants");

  const std::string chosen = calibration_lines(found) + choice_lines(selected);
  const std::string table =
      study.title + "\n\n" + chosen + (chosen.empty() ? "" : "\n") + tables(study, published, main, variants);
  nlohmann::json facts = study_facts(study);
  facts["build"] = build_facts();
  facts["published"] = published_facts(published);
  facts["calibration"] = {{"values", found.values}, {"error", found.error}, {"trail", found.trail}};
  facts["selection"] = selected.choices;
  std::vector<StudyResult> all = main;
  all.insert(all.end(), variants.begin(), variants.end());
  write_file(flags.out / "runs.csv", runs_csv(study, all));
  write_file(flags.out / "table.txt", table);
  write_file(flags.out / "study.json", facts.dump(2) + "\n");
  std::cout << table;
  if (flags.plots) draw(flags.out);
  std::cout << "\nfiles: " << flags.out.string() << "/" << (study.notes ? "; notes: " + study.notes->string() : "")
            << std::endl;
}

int run_study(const Arguments& arguments) {
  const CommandLine command_line{
      "study", "Makes the runs of a study, a process each; finished runs are kept, so the same command continues.",
      "trigram study bagua_bandwidth --jobs 4", declared_flags(), "STUDY"};
  if (command_line.helped(arguments)) return 0;
  const StudyFlags flags = read_flags(command_line.parse(arguments));
  try {
    conduct(read_study(flags.file), flags);
  } catch (const Interrupted&) {
    std::cerr << "trigram: interrupted; finished runs are kept in " << flags.out.string()
              << ", the same command continues\n";
    return interrupted_exit;
  }
  return 0;
}

}  // namespace

const Subcommand study_subcommand = {"study", "many runs, their table and their pictures", run_study};

}  // namespace trigram
