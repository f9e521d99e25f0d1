#include "backends/net/plugin_log.hpp"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "processes/last_resort.hpp"
#include "processes/launcher_variables.hpp"

namespace trigram::net_backend {
namespace {

std::atomic<bool> shown = true;
std::mutex mutex;
std::string last_warning;

bool wants_information() {
  static const std::string wanted = environment_value("NCCL_DEBUG").value_or("");
  return wanted == "INFO" || wanted == "TRACE";
}

}  // namespace

void show_log_of_plugin(bool shows) { shown = shows; }

void log_of_plugin(net::abi::LogLevel level, unsigned long, const char*, int, const char* format, ...) {
  std::array<char, 4096> text{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  const bool warns = level == net::abi::LogLevel::warn;
  if (shown && (warns || wants_information())) write_line("trigram: " + std::string(text.data()));
  const std::lock_guard lock(mutex);
  if (warns) last_warning = text.data();
}

std::string last_warning_of_plugin() {
  const std::lock_guard lock(mutex);
  return last_warning.empty() ? "it says nothing; NCCL_DEBUG=INFO may show more" : last_warning;
}

std::string failed_call(const char* call, net::abi::Result result) {
  return "the plugin's " + std::string(call) + " ended with code " + std::to_string(static_cast<int>(result)) + ": " +
         last_warning_of_plugin();
}

}  // namespace trigram::net_backend
