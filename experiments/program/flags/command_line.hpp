// Command lines: flags declared as parameters, parsed by Boost.Program_options, with help made from the declarations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/registry/params.hpp"
#include "experiments/program/flags/subcommand.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// What a subcommand accepts.
struct CommandLine {
  std::string name;                     ///< "run"
  std::string synopsis;                 ///< what --help says first
  std::string example;                  ///< one whole command
  std::vector<Params::Declared> flags;  ///< without leading dashes
  std::string positional = "";  ///< what words without a flag are, as "KIND NAME" or "DIR..."; empty: there are none
  std::string positional_help = "";  ///< what such a word may be

  /// What was given: positional words under their own names, but those of a name that ends with "..." in their order.
  struct Given {
    Settings settings;
    std::vector<std::string> words;
  };

  /// Throws UsageError for anything unknown.
  Given parse_words(const Arguments& arguments) const;
  Settings parse(const Arguments& arguments) const { return parse_words(arguments).settings; }
  /// Every flag with type, default and description, the example, and the place of the subcommand's page.
  std::string help() const;
  /// The same as one JSON object, for other programs: name, synopsis, positional, flags, example, page.
  std::string help_as_json() const;
  /// Prints help when the arguments have --help or -h, JSON for --help=json, and returns whether they had one.
  bool helped(const Arguments& arguments) const;
};

}  // namespace trigram
