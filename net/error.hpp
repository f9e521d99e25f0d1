// Failures inside the plugin, which end as a code of NCCL's and one warning.
#pragma once

#include <stdexcept>
#include <string>

#include "net/abi.hpp"

namespace trigram::net {

class Error : public std::runtime_error {
 public:
  Error(abi::Result code, const std::string& text, bool said = false)
      : std::runtime_error(text), code_(code), said_(said) {}
  abi::Result code() const { return code_; }
  /// Users have been told already.
  bool said() const { return said_; }

 private:
  abi::Result code_;
  bool said_;
};

/// What the system said about the last call.
[[noreturn]] void throw_system_error(const std::string& what);

}  // namespace trigram::net
