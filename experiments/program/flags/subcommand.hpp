// The subcommands of the program: each is one source file that defines one of these.
#pragma once

#include <string>
#include <vector>

namespace trigram {

/// What follows the subcommand's name on the command line.
using Arguments = std::vector<std::string>;

/// One word of the program. `run` returns the exit code and throws what it cannot do.
struct Subcommand {
  const char* name;
  const char* summary;
  int (*run)(const Arguments& arguments);
  bool has_ranks =
      false;  ///< it may be started by mpirun, as ranks or with a part each, where others would run several times
};

extern const Subcommand run_subcommand;
extern const Subcommand study_subcommand;
extern const Subcommand bench_subcommand;
extern const Subcommand calibrate_subcommand;
extern const Subcommand check_subcommand;
extern const Subcommand list_subcommand;
extern const Subcommand plot_subcommand;
extern const Subcommand new_subcommand;
extern const Subcommand tune_subcommand;
extern const Subcommand report_subcommand;
extern const Subcommand import_subcommand;
extern const Subcommand export_subcommand;
extern const Subcommand advise_subcommand;
extern const Subcommand doctor_subcommand;

}  // namespace trigram
