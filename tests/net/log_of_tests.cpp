// The logger that plugins under test are given.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "tests/net/loaded_plugin.hpp"

namespace trigram::tests {
namespace {

std::mutex mutex;
std::vector<std::string> warnings;
std::vector<std::string> information;

}  // namespace

void log_of_tests(net::abi::LogLevel level, unsigned long, const char*, int, const char* format, ...) {
  char text[4096];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (std::getenv("NCCL_DEBUG")) std::fprintf(stderr, "%s\n", text);
  const std::lock_guard lock(mutex);
  (level == net::abi::LogLevel::warn ? warnings : information).emplace_back(text);
}

std::vector<std::string> take_warnings() {
  const std::lock_guard lock(mutex);
  return std::exchange(warnings, {});
}

std::vector<std::string> take_information() {
  const std::lock_guard lock(mutex);
  return std::exchange(information, {});
}

}  // namespace trigram::tests
