// trigram doctor: what is here and what works, on one page. A new examination is a new file of
// experiments/doctor/examinations.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

int examine(const Arguments& arguments) {
  const CommandLine command_line{
      "doctor",
      "Examines this machine and prints one page to paste into a question: the build, processors, limits, software,\n"
      "network interfaces, GPUs and NCCL, which backends work here, each tried by two ranks, and why the others do "
      "not,\n"
      "and what the net plugin says. It takes some seconds. Addresses, names of hosts and secrets stay out of it.",
      "trigram doctor",
      {}};
  if (command_line.helped(arguments)) return 0;
  command_line.parse(arguments);
  const nlohmann::json facts{{"build", build_facts()},
                             {"backends", Backends::names()},
                             {"program", std::filesystem::read_symlink("/proc/self/exe").string()}};
  return run_script(shipped_folder("doctor") / "doctor.py", facts.dump());
}

}  // namespace

const Subcommand doctor_subcommand = {"doctor", "print what is here, and which backends work", examine};

}  // namespace trigram
