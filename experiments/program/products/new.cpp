// trigram new: begins a product with the file that CONTRIBUTING's recipe links. A new kind is a new folder of
// experiments/skeletons, and a line in product_kinds.cpp, where names are looked up.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/registry/registry.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/products/product_kinds.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> kinds() {
  std::vector<std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_folder("skeletons"))) {
    if (entry.is_directory()) all.push_back(entry.path().filename().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Who is called like that already, as "algorithm 'qsgd'"; empty where nobody is.
std::string taken_by(const std::string& kind, const std::string& name) {
  for (const std::string& other : names_of_kind(kind)) {
    if (other.substr(other.find('/') + 1) == name) return kind + " " + in_quotes(other);
  }
  return {};
}

/// By the script that does it in the source tree before anything is built.
std::string written(const std::string& kind, const std::string& name) {
  constexpr int refused = 2;
  const ScriptOutput ended = read_script(shipped_folder("new") / "new.py", {"--", kind, name});
  require(ended.code != refused, ended.text);
  ensure(ended.code == 0, "trigram new: beginning '", name, "' failed: ", ended.text);
  return ended.text;
}

int begin_product(const Arguments& arguments) {
  const std::vector<std::string> all = kinds();
  std::string synopsis = "Begins a product with the file that CONTRIBUTING.md links, under its new name.\nKIND is ";
  for (const std::string& kind : all) synopsis += (kind == all.front() ? "" : ", ") + kind;
  synopsis += ".\nWhere the current folder has the folder of that kind, as the source tree has, it is written there.";
  const CommandLine command_line{"new", synopsis, "trigram new algorithm my_average", {}, "KIND NAME"};
  if (command_line.helped(arguments)) return 0;
  const Settings given = command_line.parse(arguments);
  require(given.contains("KIND") && given.contains("NAME"),
          "trigram new: say KIND and NAME, as in: ", command_line.example);
  const std::string kind = given.at("KIND"), name = given.at("NAME");
  if (std::find(all.begin(), all.end(), kind) == all.end()) throw_unknown_name("kind", kind, all);
  const std::string other = taken_by(kind, name);
  require(other.empty(), "trigram new: there is ", other, " already; choose another name");
  std::cout << written(kind, name) << "\n";
  return 0;
}

}  // namespace

const Subcommand new_subcommand = {"new", "begin an algorithm, a codec, a topology, ... with a file", begin_product};

}  // namespace trigram
