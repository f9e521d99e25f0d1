// What a loaded net plugin says.
#pragma once

#include <string>

#include "net/abi.hpp"

namespace trigram::net_backend {

/// Whether this process shows what its plugin says: of a job rank 0 does, since all say much the same.
void show_log_of_plugin(bool shows);

/// A plugin's logger, as NCCL's own: warnings go to standard error, information too where NCCL_DEBUG is INFO or TRACE.
void log_of_plugin(net::abi::LogLevel level, unsigned long flags, const char* file, int line, const char* format, ...);

/// The last warning of this process; without one, where to see more.
std::string last_warning_of_plugin();

/// "the plugin's isend ended with code 6: the peer is lost".
std::string failed_call(const char* call, net::abi::Result result);

}  // namespace trigram::net_backend
