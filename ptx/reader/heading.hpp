// What stands between the name of a kernel and its body.
#pragma once

#include <string_view>

#include "ptx/kernel.hpp"
#include "ptx/reader/scope.hpp"

namespace trigram::ptx {

/// The name of the kernel that a heading begins. Throws UsageError for a heading that is none of a kernel.
std::string_view name_in_heading(std::string_view heading);

/// Reads parameters and limits into the kernel, and names of parameters into its scope.
void read_heading(std::string_view heading, Kernel& kernel, Scope& scope);

}  // namespace trigram::ptx
