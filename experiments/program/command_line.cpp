// Command lines by Boost.Program_options.
#include "experiments/program/command_line.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>
#include <sstream>

#include "core/error.hpp"
#include "core/quoted.hpp"
#include "core/spelling.hpp"

namespace trigram {
namespace {

namespace po = boost::program_options;

bool is_switch(const Params::Declared& flag) { return flag.type == "on|off"; }

bool any_number(const std::string& positional) { return positional.ends_with("..."); }

po::options_description describe(const std::vector<Params::Declared>& flags) {
  constexpr unsigned width = 118;
  po::options_description options("flags", width, width / 2);
  options.add_options()("help", "this text");
  for (const Params::Declared& flag : flags) {
    auto* value = po::value<std::string>();
    value->value_name(flag.type);
    if (is_switch(flag)) value->implicit_value("on", "");
    const std::string fallback = flag.fallback.empty() ? "" : " [" + flag.fallback + "]";
    options.add_options()(flag.key.c_str(), value, (flag.description + fallback).c_str());
  }
  return options;
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

}  // namespace

CommandLine::Given CommandLine::parse_words(const Arguments& arguments) const {
  Given given;
  try {
    const auto style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::options_description options = describe(flags);
    po::positional_options_description words;
    std::istringstream in_order(positional);
    for (std::string word; in_order >> word;) {
      options.add_options()(word.c_str(), po::value<std::string>());
      words.add(word.c_str(), any_number(word) ? -1 : 1);
    }
    const auto parsed =
        po::command_line_parser(join_switches(arguments, flags)).options(options).positional(words).style(style).run();
    for (const po::option& option : parsed.options) {
      const std::string value = option.value.empty() ? "on" : option.value.front();
      if (any_number(option.string_key))
        given.words.push_back(value);
      else
        require(given.settings.emplace(option.string_key, value).second, "'", option.string_key, "' is given twice");
    }
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError("trigram " + name + ": a word without a flag; trigram " + name + " --help shows what is accepted");
  } catch (const po::unknown_option& error) {
    throw UsageError("trigram " + name + " has no flag " + in_quotes(error.get_option_name()) +
                     did_you_mean(error.get_option_name(), names_of(flags)) + "; trigram " + name +
                     " --help shows all flags");
  } catch (const po::invalid_command_line_syntax& error) {
    if (error.kind() != po::invalid_command_line_syntax::empty_adjacent_parameter) throw;
    throw UsageError("trigram " + name + ": " + error.get_option_name() +
                     "='' is no value; give one, or leave the flag out");
  } catch (const std::exception& error) {
    throw UsageError("trigram " + name + ": " + printable(error.what()) + "; trigram " + name +
                     " --help shows all flags");
  }
  return given;
}

std::string CommandLine::help() const {
  std::ostringstream text;
  text << synopsis << "\n\nusage: trigram " << name << (positional.empty() ? "" : " " + positional) << " [flags]\n\n"
       << (positional_help.empty() ? "" : positional + ": " + positional_help + "\n\n") << describe(flags)
       << "\nexample: " << example << "\n";
  return text.str();
}

bool CommandLine::helped(const Arguments& arguments) const {
  const bool asked = std::any_of(arguments.begin(), arguments.end(),
                                 [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (asked) std::cout << help();
  return asked;
}

}  // namespace trigram
