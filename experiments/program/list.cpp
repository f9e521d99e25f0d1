// trigram list: everything that is registered or shipped, by kind.
#include <algorithm>
#include <functional>
#include <iostream>

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

void print_parameters(const std::vector<Params::Declared>& parameters) {
  for (const Params::Declared& parameter : parameters) {
    std::cout << "      " << parameter.key << "=" << parameter.fallback << " (" << parameter.type << ")  "
              << parameter.description << "\n";
  }
}

template <class Interface>
void print_product(const std::string& name) {
  const Description& description = Registry<Interface>::describe(name);
  std::cout << "  " << name << "  " << description.summary << "\n";
  if (!description.paper.empty()) std::cout << "      paper: " << description.paper << "\n";
  print_parameters(Registry<Interface>::parameters(name));
}

template <class Interface>
void print_products() {
  for (const std::string& name : Registry<Interface>::names()) print_product<Interface>(name);
}

std::string supported(const Algorithm& algorithm) {
  std::string text;
  for (const Option option : all_options) {
    const Refusal reason = algorithm.refuses(option);
    text += (text.empty() ? "" : "; ") + std::string(name_of(option)) + (reason.empty() ? "" : ": no, " + reason);
  }
  return text;
}

void print_algorithms() {
  for (const std::string& name : Algorithms::names()) {
    const auto algorithm = Algorithms::make(name);
    std::cout << algorithm->trigram().symbol();
    print_product<Algorithm>(name);
    std::cout << "      " << algorithm->trigram().words() << "\n      options: " << supported(*algorithm) << "\n";
  }
}

void print_profiles() {
  for (const auto& [name, path] : shipped_profiles())
    std::cout << "  " << name << "  " << shared_profile_table(path.string())->summary << "\n";
}

/// The files of a folder with the first comment line of each.
void print_files(const std::string& kind) {
  for (const std::string& name : shipped_names(kind)) {
    std::cout << "  " << name << "  " << opening_comment(shipped_folder(kind) / (name + ".cfg")) << "\n";
  }
}

struct ListedKind {
  const char* name;
  std::function<void()> print;
};

const std::vector<ListedKind>& listed_kinds() {
  static const std::vector<ListedKind> all = {{"backends", print_products<Backend>},
                                              {"algorithms", print_algorithms},
                                              {"codecs", print_products<Codec>},
                                              {"topologies", print_products<Topology>},
                                              {"workloads", print_products<Workload>},
                                              {"operations", print_products<Operation>},
                                              {"profiles", print_profiles},
                                              {"optimizers", print_products<Optimizer>},
                                              {"schedules", print_products<Schedule>},
                                              {"all-reduces", print_products<AllReduce>},
                                              {"clusters", [] { print_files("clusters"); }},
                                              {"systems", [] { print_files("systems"); }},
                                              {"studies", [] { print_files("studies"); }}};
  return all;
}

int list(const Arguments& arguments) {
  std::vector<std::string> names;
  std::string synopsis = "Prints everything registered, with parameters, or one kind of it.";
  for (const ListedKind& kind : listed_kinds()) names.emplace_back(kind.name);
  for (const std::string& name : names) synopsis += (name == names.front() ? "\nKIND is " : ", ") + name;
  const CommandLine command_line{"list", synopsis + ".", "trigram list algorithms", {}, "KIND"};
  if (command_line.helped(arguments)) return 0;
  const Settings given = command_line.parse(arguments);
  const std::string wanted = given.contains("KIND") ? given.at("KIND") : "";
  if (!wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end())
    throw_unknown_name("kind", wanted, names);
  for (const ListedKind& kind : listed_kinds()) {
    if (!wanted.empty() && wanted != kind.name) continue;
    std::cout << kind.name << "\n";
    kind.print();
  }
  return 0;
}

}  // namespace

const Subcommand list_subcommand = {"list", "print what is registered", list};

}  // namespace trigram
