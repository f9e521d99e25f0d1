// trigram list: everything that is registered or shipped, by kind.
#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/algorithm.hpp"
#include "core/all_reduce.hpp"
#include "core/backend.hpp"
#include "core/codec.hpp"
#include "core/operation.hpp"
#include "core/optimizer.hpp"
#include "core/schedule.hpp"
#include "core/topology.hpp"
#include "core/workload.hpp"
#include "experiments/program/command_line.hpp"
#include "experiments/settings/config_file.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/workloads/profile_table.hpp"
#include "experiments/workloads/shipped_profiles.hpp"

namespace trigram {
namespace {

using Json = nlohmann::ordered_json;

template <class Interface>
Json product(const std::string& name) {
  const Description& description = Registry<Interface>::describe(name);
  Json parameters = Json::array();
  for (const Params::Declared& one : Registry<Interface>::parameters(name))
    parameters.push_back(
        {{"key", one.key}, {"default", one.fallback}, {"type", one.type}, {"description", one.description}});
  Json entry = {{"name", name}, {"summary", description.summary}, {"paper", description.paper}};
  if (const std::string& spec = Registry<Interface>::stands_for(name); !spec.empty()) entry["stands_for"] = spec;
  if (!description.when.empty()) entry["when"] = description.when;
  if (!description.when_not.empty()) entry["when_not"] = description.when_not;
  entry["parameters"] = parameters;
  return entry;
}

template <class Interface>
Json products() {
  Json all = Json::array();
  for (const std::string& name : Registry<Interface>::names()) all.push_back(product<Interface>(name));
  return all;
}

/// Each option with the reason why the algorithm refuses it, empty where it takes it.
Json options_of(const Algorithm& algorithm) {
  Json all = Json::object();
  for (const Option option : all_options) all[std::string(name_of(option))] = algorithm.refuses(option);
  return all;
}

Json algorithms() {
  Json all = products<Algorithm>();
  for (Json& one : all) {
    const auto algorithm = Algorithms::make(one["name"].get<std::string>());
    one["trigram"] = algorithm->trigram().symbol();
    one["relaxation"] = algorithm->trigram().words();
    one["options"] = options_of(*algorithm);
  }
  return all;
}

Json profiles() {
  Json all = Json::array();
  for (const auto& [name, path] : shipped_profiles())
    all.push_back({{"name", name}, {"summary", shared_profile_table(path.string())->summary}});
  return all;
}

/// The files of a folder with the first comment line of each.
Json files(const std::string& kind) {
  Json all = Json::array();
  for (const std::string& name : shipped_names(kind))
    all.push_back({{"name", name}, {"summary", opening_comment(shipped_folder(kind) / (name + ".cfg"))}});
  return all;
}

std::string text_of(const Json& entry, const char* key) { return entry[key].get<std::string>(); }

void print_parameters(const Json& parameters) {
  for (const Json& one : parameters) {
    std::cout << "      " << text_of(one, "key") << "=" << text_of(one, "default") << " (" << text_of(one, "type")
              << ")  " << text_of(one, "description") << "\n";
  }
}

void print_relaxations(const Json& algorithm) {
  std::string options;
  for (const auto& [option, reason] : algorithm["options"].items()) {
    options += (options.empty() ? "" : "; ") + option;
    if (!reason.get<std::string>().empty()) options += ": no, " + reason.get<std::string>();
  }
  std::cout << "      " << text_of(algorithm, "relaxation") << "\n      options: " << options << "\n";
}

void print(const Json& entries) {
  for (const Json& one : entries) {
    const bool is_algorithm = one.contains("trigram");
    std::cout << (is_algorithm ? text_of(one, "trigram") : "") << "  " << text_of(one, "name") << "  "
              << text_of(one, "summary") << "\n";
    for (const auto& [key, title] : {std::pair{"stands_for", "stands for: "}, std::pair{"when", "when: "},
                                     std::pair{"when_not", "when not: "}, std::pair{"paper", "paper: "}}) {
      if (one.contains(key) && !text_of(one, key).empty()) std::cout << "      " << title << text_of(one, key) << "\n";
    }
    if (one.contains("parameters")) print_parameters(one["parameters"]);
    if (is_algorithm) print_relaxations(one);
  }
}

struct ListedKind {
  const char* name;
  std::function<Json()> entries;
};

const std::vector<ListedKind>& listed_kinds() {
  static const std::vector<ListedKind> all = {{"backends", products<Backend>},
                                              {"algorithms", algorithms},
                                              {"codecs", products<Codec>},
                                              {"topologies", products<Topology>},
                                              {"workloads", products<Workload>},
                                              {"operations", products<Operation>},
                                              {"profiles", profiles},
                                              {"optimizers", products<Optimizer>},
                                              {"schedules", products<Schedule>},
                                              {"all-reduces", products<AllReduce>},
                                              {"clusters", [] { return files("clusters"); }},
                                              {"systems", [] { return files("systems"); }},
                                              {"studies", [] { return files("studies"); }}};
  return all;
}

struct ListFlags {
  explicit ListFlags(Params& flags) : json(flags.get("json", false, "as one JSON object, for other programs")) {}
  bool json;
};

int list(const Arguments& arguments) {
  std::vector<std::string> names;
  std::string synopsis = "Prints everything registered, with parameters, or one kind of it.";
  for (const ListedKind& kind : listed_kinds()) names.emplace_back(kind.name);
  for (const std::string& name : names) synopsis += (name == names.front() ? "\nKIND is " : ", ") + name;
  const CommandLine command_line{"list", synopsis + ".", "trigram list algorithms",
                                 declared_flags<ListFlags>("trigram list"), "KIND"};
  if (command_line.helped(arguments)) return 0;
  const Settings given = command_line.parse(arguments);
  const std::string wanted = given.contains("KIND") ? given.at("KIND") : "";
  if (!wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end())
    throw_unknown_name("kind", wanted, names);
  Params flags = as_params("trigram list", given);
  const bool as_json = ListFlags(flags).json;
  Json all = Json::object();
  for (const ListedKind& kind : listed_kinds()) {
    if (!wanted.empty() && wanted != kind.name) continue;
    const Json entries = kind.entries();
    if (as_json) {
      all[kind.name] = entries;
    } else {
      std::cout << kind.name << "\n";
      print(entries);
    }
  }
  if (as_json) std::cout << all.dump(2) << "\n";
  return 0;
}

}  // namespace

const Subcommand list_subcommand = {"list", "print what is registered", list};

}  // namespace trigram
