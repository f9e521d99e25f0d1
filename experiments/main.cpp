// The program: hands the command line to a subcommand and turns every error into one message and an exit code.
#include <chrono>
#include <exception>
#include <iomanip>
#include <iostream>
#include <string>
#include <thread>

#include "core/error.hpp"
#include "experiments/build_facts.hpp"
#include "experiments/launcher.hpp"
#include "experiments/subcommand.hpp"

namespace trigram {
namespace {

constexpr int usage_exit = 2;

const std::vector<const Subcommand*> subcommands = {&run_subcommand,       &study_subcommand, &bench_subcommand,
                                                    &calibrate_subcommand, &list_subcommand,  &plot_subcommand};

void print_help(std::ostream& out) {
  out << "trigram " << build_version()
      << ": system relaxations of distributed training\n\nusage: trigram SUBCOMMAND [flags]\n\n";
  for (const Subcommand* subcommand : subcommands) {
    out << "  " << std::left << std::setw(10) << subcommand->name << subcommand->summary << "\n";
  }
  out << "\nflags:\n  --help     this text; after a subcommand, all of its flags with defaults and an example\n"
         "  --version  the version of this build\n\nexample: trigram run --algorithm bytegrad --steps 50\n";
}

std::string names() {
  std::string all;
  for (const Subcommand* subcommand : subcommands) all += (all.empty() ? "" : ", ") + std::string(subcommand->name);
  return all;
}

int dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    print_help(std::cerr);
    return usage_exit;
  }
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
  throw UsageError("unknown subcommand '" + word + "'; there are: " + names());
}

/// All ranks of a launched job see a bad flag; rank 0's exit ends the job, so the others speak up only if it does not.
void print_error(const std::exception& error) {
  const int rank = launch().rank;
  if (rank > 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  std::cerr << "trigram: " << (rank > 0 ? "rank " + std::to_string(rank) + ": " : "") << error.what() << "\n";
}

}  // namespace
}  // namespace trigram

int main(int count, char** words) {
  try {
    return trigram::dispatch(trigram::Arguments(words + 1, words + count));
  } catch (const trigram::UsageError& error) {
    trigram::print_error(error);
    return trigram::usage_exit;
  } catch (const std::exception& error) {
    trigram::print_error(error);
    return 1;
  }
}
