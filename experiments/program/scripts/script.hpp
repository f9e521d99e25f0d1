// Scripts of Python that the program ships.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trigram {

/// Runs `script` by the Python that TRIGRAM_PYTHON names, else the system's, apart from the current folder and from
/// Python's variables; it reads `input` and speaks on the streams of this process. Ctrl-C is the script's to answer:
/// this process waits for it. Returns its exit code; throws Error where a signal ended it, and UsageError where there
/// is no such Python.
int run_script(const std::filesystem::path& script, const std::string& input);

/// How a script ended, and what it printed.
struct ScriptOutput {
  int code = 0;
  std::string text;  ///< without the newlines at its end
};

/// The same with `arguments` and no input of its own; what it prints is returned. Throws as run_script does.
ScriptOutput read_script(const std::filesystem::path& script, std::vector<std::string> arguments);

}  // namespace trigram
