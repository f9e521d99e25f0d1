// Modules of kernels, read from PTX.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ptx/kernel.hpp"

namespace trigram::ptx {

/// What one file of PTX holds.
class Module {
 public:
  /// Reads what nvcc writes; `name` says in messages where the text is from. Throws UsageError for anything that the
  /// interpreter does not know, with the statement, its kernel and its line.
  static Module read(std::string_view text, std::string name);

  /// Throws UsageError for a name that the module does not have.
  const Kernel& kernel(const std::string& name) const;

  const std::map<std::string, Kernel>& kernels() const { return kernels_; }

 private:
  std::string name_;
  std::map<std::string, Kernel> kernels_;
};

}  // namespace trigram::ptx
