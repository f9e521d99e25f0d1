// Plugins under test: libraries, and others' designs, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/net/loaded_plugin.hpp"

namespace trigram::tests {

using net::abi::Result;
using net_backend::LoadedPlugin;
using net_backend::Said;

/// `what` is a library as net_backend::load_plugin has it, or the design of another one: "one_socket",
/// "nccl:THREADSxSOCKETS", "bagua:STREAMS". Throws std::runtime_error where there is none.
std::unique_ptr<LoadedPlugin> load_plugin(const std::string& what);

/// What plugins have logged as warnings, by all since the last call.
std::vector<std::string> take_warnings();
/// What they have logged as information.
std::vector<std::string> take_information();
/// What plugins are given as NCCL's logger.
void log_of_tests(net::abi::LogLevel level, unsigned long flags, const char* file, int line, const char* format, ...);

}  // namespace trigram::tests
