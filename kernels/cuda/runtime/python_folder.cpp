#include "kernels/cuda/runtime/python_folder.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdio>

namespace trigram::cuda {
namespace {

/// The first line that a command prints; empty where it fails.
std::string said_by(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): callers name packages by fixed texts
  if (pipe == nullptr) return {};
  std::array<char, 512> piece{};
  std::string text;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) text += piece.data();
  if (pclose(pipe) != 0) return {};
  return text.substr(0, text.find('\n'));
}

/// Its packages have loaded there what they bring, and CUDA may run, beside which no process is to be started.
bool is_process_of_python() { return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr; }

}  // namespace

std::string python_folder(const std::string& package) {
  if (is_process_of_python()) return {};
  return said_by("python3 -c 'import " + package + "; print(list(" + package +
                 ".__path__)[0] + \"/lib\")' 2>/dev/null");
}

}  // namespace trigram::cuda
