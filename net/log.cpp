#include "net/log.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "net/error.hpp"

namespace trigram::net {
namespace {

std::atomic<abi::DebugLogger> logger = nullptr;

void say(abi::LogLevel level, const std::string& text) {
  if (const auto log = logger.load()) log(level, abi::subsystem_net, "trigram", 0, "NET/Trigram: %s", text.c_str());
}

}  // namespace

void set_logger(abi::DebugLogger given) { logger = given; }
void warn(const std::string& text) { say(abi::LogLevel::warn, text); }
void info(const std::string& text) { say(abi::LogLevel::info, text); }

void throw_system_error(const std::string& what) {
  throw Error(abi::Result::system_error, what + ": " + std::strerror(errno));
}

}  // namespace trigram::net
