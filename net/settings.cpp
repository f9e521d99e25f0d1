#include "net/settings.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>

#include "net/error.hpp"

namespace trigram::net {
namespace {

std::string text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// A number within bounds, or `otherwise` where the variable is not set.
double number_of(const char* variable, double low, double high, double otherwise, const std::string& meaning) {
  const std::string text = text_of(variable);
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(value >= low && value <= high)) {
    throw Error(abi::Result::invalid_argument, std::string(variable) + "=" + text + " is not " + meaning);
  }
  return value;
}

int streams_asked_for() {
  const std::string meaning = "a number of connections from 1 to 32";
  const int own = static_cast<int>(number_of("TRIGRAM_NET_STREAMS", 1, 32, 0, meaning));
  if (own > 0 || (text_of("NCCL_SOCKET_NTHREADS").empty() && text_of("NCCL_NSOCKS_PERTHREAD").empty())) return own;
  const double threads = number_of("NCCL_SOCKET_NTHREADS", 0, 16, 1, "a number of threads from 0 to 16");
  const double sockets = number_of("NCCL_NSOCKS_PERTHREAD", 0, 64, 1, "a number of sockets from 0 to 64");
  const double product = threads * sockets;
  return product < 1 ? 0 : static_cast<int>(product > 32 ? 32 : product);
}

int threads_asked_for() {
  const std::string meaning = "a number of threads from 0 to 16";
  const double of_nccl = number_of("NCCL_SOCKET_NTHREADS", 0, 16, -1, meaning);
  return static_cast<int>(number_of("TRIGRAM_NET_THREADS", 0, 16, of_nccl, meaning));
}

/// A text of one character names nothing, as for NCCL.
std::string interfaces_asked_for() {
  for (const char* variable : {"TRIGRAM_NET_INTERFACES", "NCCL_SOCKET_IFNAME"}) {
    if (std::string text = text_of(variable); text.size() > 1) return text;
  }
  return "";
}

int family_asked_for() {
  const std::string text = text_of("NCCL_SOCKET_FAMILY");
  if (text.empty()) return 0;
  if (text == "AF_INET") return AF_INET;
  if (text == "AF_INET6") return AF_INET6;
  throw Error(abi::Result::invalid_argument, "NCCL_SOCKET_FAMILY=" + text + " is neither AF_INET nor AF_INET6");
}

std::size_t bytes_asked_for(const char* variable, std::size_t otherwise) {
  return static_cast<std::size_t>(
      number_of(variable, 4096, 16 << 20, static_cast<double>(otherwise), "a number of bytes from 4096 to 16777216"));
}

}  // namespace

Settings settings_of_environment() {
  Settings settings;
  settings.interfaces = interfaces_asked_for();
  settings.family = family_asked_for();
  settings.streams = streams_asked_for();
  settings.threads = threads_asked_for();
  settings.chunk = bytes_asked_for("TRIGRAM_NET_CHUNK", settings.chunk);
  if (!std::has_single_bit(settings.chunk)) {
    throw Error(abi::Result::invalid_argument,
                "TRIGRAM_NET_CHUNK=" + std::to_string(settings.chunk) + " is no power of two");
  }
  settings.unsent = bytes_asked_for("TRIGRAM_NET_UNSENT", settings.unsent);
  settings.timeout = number_of("TRIGRAM_NET_TIMEOUT", 0.1, 86400, settings.timeout, "from 0.1 to 86400 seconds");
  settings.speed = static_cast<int>(number_of("TRIGRAM_NET_SPEED", 1, 1e7, 0, "from 1 to 10000000 Mbit/s"));
  settings.metrics = text_of("TRIGRAM_NET_METRICS");
  if (const auto at = settings.metrics.find("%p"); at != std::string::npos) {
    settings.metrics.replace(at, 2, std::to_string(getpid()));
  }
  return settings;
}

}  // namespace trigram::net
