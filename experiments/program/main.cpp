// The program: hands the command line to a subcommand and turns every error into one message and an exit code.
#include <algorithm>
#include <chrono>
#include <exception>
#include <iomanip>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/flags/subcommand.hpp"
#include "experiments/program/standard_streams.hpp"
#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/files/utf8.hpp"
#include "experiments/settings/launcher.hpp"

namespace trigram {
namespace {

constexpr int usage_exit = 2;

const std::vector<const Subcommand*> subcommands = {
    &run_subcommand,    &study_subcommand,  &bench_subcommand,  &calibrate_subcommand, &check_subcommand,
    &list_subcommand,   &tune_subcommand,   &plot_subcommand,   &report_subcommand,    &new_subcommand,
    &import_subcommand, &export_subcommand, &advise_subcommand, &doctor_subcommand};

void print_help(std::ostream& out) {
  out << "trigram " << build_version()
      << ": system relaxations of distributed training\n\nusage: trigram SUBCOMMAND [flags]\n\n";
  for (const Subcommand* subcommand : subcommands) {
    out << "  " << std::left << std::setw(10) << subcommand->name << subcommand->summary << "\n";
  }
  out << "\nflags:\n  --help     this text; after a subcommand, all of its flags with defaults and an example\n"
         "  --version  the version of this build\n\nexample: trigram run --algorithm bytegrad --steps 50\n";
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Subcommand* subcommand : subcommands) all.emplace_back(subcommand->name);
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

int dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    print_help(std::cerr);
    return usage_exit;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i)
    require_utf8(arguments[i], "word " + std::to_string(i + 1) + " of the command line");
  const std::string& word = arguments.front();
  if (word == "--help" || word == "-h" || word == "help") {
    print_help(std::cout);
    return 0;
  }
  if (word == "--version") {
    std::cout << "trigram " << build_version() << "\n";
    return 0;
  }
  for (const Subcommand* subcommand : subcommands) {
    if (word != subcommand->name) continue;
    if (!subcommand->has_ranks) require_started_alone("trigram " + word);
    return subcommand->run({arguments.begin() + 1, arguments.end()});
  }
  throw UsageError("unknown subcommand " + in_quotes(word) + did_you_mean(word, names()) +
                   "; there are: " + joined(names()));
}

/// A message as a terminal may show it: lines stay lines, whatever else moves a cursor is escaped, and what is far too
/// long to be read is cut.
std::string readable(std::string_view message) {
  constexpr std::size_t longest = 4096;
  std::string text;
  for (bool first = true; first || !message.empty(); first = false) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    text += (first ? "" : "\n") + printable(message.substr(0, std::min(end, longest)));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

/// All ranks of a launched job see a bad flag; rank 0's exit ends the job, so the others speak up only if it does not.
void print_error(const std::exception& error) {
  const int rank = launch().rank;
  if (rank > 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  // In one piece, since a launcher puts what others say between pieces.
  std::cerr << "trigram: " + (rank > 0 ? "rank " + std::to_string(rank) + ": " : "") + readable(error.what()) + "\n";
}

}  // namespace
}  // namespace trigram

int main(int count, char** words) {
  try {
    trigram::occupy_standard_streams();
    const int code = trigram::dispatch(trigram::Arguments(words + 1, words + count));
    trigram::require_printed();
    return code;
  } catch (const trigram::UsageError& error) {
    trigram::print_error(error);
    return trigram::usage_exit;
  } catch (const std::exception& error) {
    trigram::print_error(error);
    return 1;
  }
}
