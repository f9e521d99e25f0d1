// Messages to users, by NCCL's logger.
#pragma once

#include <string>

#include "net/abi.hpp"

namespace trigram::net {

/// All later messages go there; null: nowhere.
void set_logger(abi::DebugLogger logger);

/// Shown by NCCL_DEBUG=WARN and above.
void warn(const std::string& text);
/// Shown by NCCL_DEBUG=INFO.
void info(const std::string& text);

}  // namespace trigram::net
