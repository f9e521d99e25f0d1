// Command lines by Boost.Program_options.
#include "experiments/program/flags/command_line.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>
#include <list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

namespace po = boost::program_options;

bool is_switch(const Params::Declared& flag) { return flag.type == "on|off"; }

bool any_number(const std::string& positional) { return positional.ends_with("..."); }

void describe(const Params::Declared& flag, po::options_description& options) {
  auto* value = po::value<std::string>();
  value->value_name(flag.type);
  if (is_switch(flag)) value->implicit_value("on", "");
  const std::string fallback = flag.fallback.empty() ? "" : " [" + flag.fallback + "]";
  options.add_options()(flag.key.c_str(), value, (flag.description + fallback).c_str());
}

/// Those of no group first, then group by group, in the order in which groups begin.
po::options_description describe(const std::vector<Params::Declared>& flags) {
  constexpr unsigned width = 118;
  po::options_description all("flags", width, width / 2);
  all.add_options()("help", "this text; --help=json: the same for other programs");
  std::list<std::pair<std::string, po::options_description>> groups;
  for (const Params::Declared& flag : flags) {
    if (flag.group.empty()) {
      describe(flag, all);
      continue;
    }
    auto group = std::ranges::find(groups, flag.group, [](const auto& one) { return one.first; });
    if (group == groups.end())
      group = groups.emplace(group, flag.group, po::options_description(flag.group, width, width / 2));
    describe(flag, group->second);
  }
  for (const auto& [title, options] : groups) all.add(options);
  return all;
}

std::vector<std::string> names_of(const std::vector<Params::Declared>& flags) {
  std::vector<std::string> names = {"--help"};
  for (const Params::Declared& flag : flags) names.push_back("--" + flag.key);
  return names;
}

/// "--overlap off" as "--overlap=off": a switch takes its value only where it stands as one word.
Arguments join_switches(const Arguments& arguments, const std::vector<Params::Declared>& flags) {
  Arguments joined;
  for (const std::string& word : arguments) {
    const bool value = word == "on" || word == "off";
    const bool follows_switch =
        !joined.empty() && std::any_of(flags.begin(), flags.end(), [&](const Params::Declared& flag) {
          return is_switch(flag) && joined.back() == "--" + flag.key;
        });
    if (value && follows_switch) {
      joined.back() += "=" + word;
    } else {
      joined.push_back(word);
    }
  }
  return joined;
}

/// Flags, and words without one, in their order.
std::vector<po::option> parsed(const CommandLine& line, const Arguments& arguments) {
  const std::string program = "trigram " + line.name, help = "; " + program + " --help shows all flags";
  try {
    const auto style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    const po::options_description options = describe(line.flags);
    return po::command_line_parser(join_switches(arguments, line.flags)).options(options).style(style).run().options;
  } catch (const po::unknown_option& error) {
    throw UsageError(program + " has no flag " + in_quotes(error.get_option_name()) +
                     did_you_mean(error.get_option_name(), names_of(line.flags)) + help);
  } catch (const po::invalid_command_line_syntax& error) {
    if (error.kind() != po::invalid_command_line_syntax::empty_adjacent_parameter)
      throw UsageError(program + ": " + printable(error.what()) + help);
    throw UsageError(program + ": " + error.get_option_name() + "='' is no value; give one, or leave the flag out");
  } catch (const std::exception& error) {
    throw UsageError(program + ": " + printable(error.what()) + help);
  }
}

/// Puts a word under the name of its position, of `names`, which are those of `line`.
void take_word(const CommandLine& line, const std::vector<std::string>& names, const std::string& word,
               std::size_t position, CommandLine::Given& given) {
  if (!names.empty() && any_number(names.back()) && position + 1 >= names.size()) {
    given.words.push_back(word);
    return;
  }
  if (position < names.size()) {
    given.settings.emplace(names[position], word);
    return;
  }
  throw UsageError("trigram " + line.name + ": " + in_quotes(word) + " is a word without a flag" +
                   (names.empty() ? "" : ", behind " + line.positional) + "; trigram " + line.name +
                   " --help shows what is accepted");
}

}  // namespace

CommandLine::Given CommandLine::parse_words(const Arguments& arguments) const {
  const std::vector<std::string> names = words_in(positional);
  Given given;
  for (const po::option& option : parsed(*this, arguments)) {
    if (option.position_key >= 0) {
      take_word(*this, names, option.value.front(), static_cast<std::size_t>(option.position_key), given);
      continue;
    }
    const std::string value = option.value.empty() ? "on" : option.value.front();
    require(given.settings.emplace(option.string_key, value).second, "trigram ", name, ": '", option.string_key,
            "' is given twice; trigram ", name, " --help shows all flags");
  }
  return given;
}

std::string CommandLine::help() const {
  std::ostringstream text;
  text << synopsis << "\n\nusage: trigram " << name << (positional.empty() ? "" : " " + positional) << " [flags]\n\n"
       << (positional_help.empty() ? "" : positional + ": " + positional_help + "\n\n") << describe(flags)
       << "\nexample: " << example << "\n";
  if (const auto page = reference_page(name)) text << "\nreference page: " << page->string() << "\n";
  return text.str();
}

std::string CommandLine::help_as_json() const {
  nlohmann::ordered_json all = {{"name", name}, {"synopsis", synopsis}, {"example", example}};
  all["positional"] = {{"words", positional}, {"meaning", positional_help}};
  all["flags"] = nlohmann::ordered_json::array();
  for (const Params::Declared& flag : flags)
    all["flags"].push_back({{"key", flag.key},
                            {"type", flag.type},
                            {"default", flag.fallback},
                            {"description", flag.description},
                            {"group", flag.group}});
  if (const auto page = reference_page(name)) all["page"] = page->string();
  return all.dump(2) + "\n";
}

bool CommandLine::helped(const Arguments& arguments) const {
  const auto has = [&](const char* word) { return std::ranges::find(arguments, word) != arguments.end(); };
  const bool as_text = has("--help") || has("-h"), as_json = has("--help=json");
  if (as_text || as_json) std::cout << (as_text ? help() : help_as_json());
  return as_text || as_json;
}

}  // namespace trigram
