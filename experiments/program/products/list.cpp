// trigram list: everything that is registered or shipped, by kind.
#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/device/codec.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/members/membership.hpp"
#include "core/registry/spelling.hpp"
#include "core/step/algorithm.hpp"
#include "core/step/operation.hpp"
#include "core/step/optimizer.hpp"
#include "core/step/schedule.hpp"
#include "core/step/workload.hpp"
#include "core/topologies/topology.hpp"
#include "core/training/backend.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/settings/files/config_file.hpp"
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

void print_line(const Json& entry) {
  std::cout << (entry.contains("trigram") ? text_of(entry, "trigram") : "") << "  " << text_of(entry, "name") << "  "
            << text_of(entry, "summary") << "\n";
}

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

void print_whole(const Json& entry) {
  print_line(entry);
  for (const auto& [key, title] : {std::pair{"stands_for", "stands for: "}, std::pair{"when", "when: "},
                                   std::pair{"when_not", "when not: "}, std::pair{"paper", "paper: "}}) {
    if (entry.contains(key) && !text_of(entry, key).empty())
      std::cout << "      " << title << text_of(entry, key) << "\n";
  }
  if (entry.contains("parameters")) print_parameters(entry["parameters"]);
  if (entry.contains("trigram")) print_relaxations(entry);
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
                                              {"memberships", products<Membership>},
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

std::vector<std::string> kind_names() {
  std::vector<std::string> all;
  for (const ListedKind& kind : listed_kinds()) all.emplace_back(kind.name);
  return all;
}

bool is_kind(const std::string& word) {
  const std::vector<std::string> kinds = kind_names();
  return std::ranges::find(kinds, word) != kinds.end();
}

/// What the words ask for; empty: all.
struct Wanted {
  std::string kind, name;

  /// A word alone is a kind, or a name of whatever kinds have it.
  explicit Wanted(const Settings& given) {
    if (given.contains("KIND")) kind = given.at("KIND");
    if (given.contains("NAME")) name = given.at("NAME");
    if (name.empty() && !is_kind(kind)) std::swap(kind, name);
    if (!kind.empty() && !is_kind(kind)) throw_unknown_name("kind", kind, kind_names());
  }

  /// "qsgd" is cpu/qsgd too.
  bool takes(const Json& entry) const {
    const std::string own = text_of(entry, "name");
    return name.empty() || own == name || own.substr(own.find('/') + 1) == name;
  }
};

/// What is asked for, by kind, without kinds that have none of it. Throws UsageError where nobody has it.
Json found(const Wanted& wanted) {
  Json all = Json::object();
  std::vector<std::string> names = wanted.kind.empty() ? kind_names() : std::vector<std::string>();
  for (const ListedKind& kind : listed_kinds()) {
    if (!wanted.kind.empty() && wanted.kind != kind.name) continue;
    Json taken = Json::array();
    for (const Json& entry : kind.entries()) {
      names.push_back(text_of(entry, "name"));
      if (wanted.takes(entry)) taken.push_back(entry);
    }
    if (wanted.name.empty() || !taken.empty()) all[kind.name] = taken;
  }
  if (all.empty() && !wanted.kind.empty()) throw_unknown_name("name of " + wanted.kind, wanted.name, names);
  require(
      !all.empty(), "trigram list: ", Quoted(wanted.name), " is no kind, and nothing has that name",
      [&] { return did_you_mean(wanted.name, names); }, "; trigram list shows all");
  return all;
}

void print(const Json& all, bool whole) {
  for (const auto& [kind, entries] : all.items()) {
    std::cout << kind << "\n";
    for (const Json& entry : entries) whole ? print_whole(entry) : print_line(entry);
  }
  if (!whole) std::cout << "trigram list NAME shows one with its parameters\n";
}

int list(const Arguments& arguments) {
  std::string synopsis =
      "Prints everything registered, a line each: all, or one kind. With a NAME, also without its "
      "kind,\nall that is known of it: parameters, paper, when to use it.\nKIND is ";
  for (const std::string& name : kind_names()) synopsis += (synopsis.ends_with(' ') ? "" : ", ") + name;
  const CommandLine command_line{"list", synopsis + ".", "trigram list algorithms local_sgd",
                                 declared_flags<ListFlags>("trigram list"), "KIND NAME"};
  if (command_line.helped(arguments)) return 0;
  const Settings given = command_line.parse(arguments);
  Params flags = as_params("trigram list", given);
  const bool as_json = ListFlags(flags).json;
  const Wanted wanted(given);
  const Json all = found(wanted);
  if (as_json)
    std::cout << all.dump(2) << "\n";
  else
    print(all, !wanted.name.empty());
  return 0;
}

}  // namespace

const Subcommand list_subcommand = {"list", "print what is registered", list};

}  // namespace trigram
