#include "ptx/reader/heading.hpp"

#include <algorithm>
#include <cstddef>

#include "core/values/error.hpp"
#include "ptx/reader/declaration.hpp"
#include "ptx/reader/texts.hpp"

namespace trigram::ptx {

namespace {

constexpr std::string_view entry = ".entry";

std::string_view after_entry(std::string_view heading) {
  const std::size_t at = heading.find(entry);
  require(at != std::string_view::npos, "the interpreter knows entries, and no functions");
  return trimmed(heading.substr(at + entry.size()));
}

void read_parameter(std::string_view text, Kernel& kernel, Scope& scope) {
  constexpr std::string_view space = ".param ";
  require(text.starts_with(space), "'", text, "' is no parameter");
  const Declaration declared = read_declaration(text.substr(space.size()));
  const std::uint32_t offset = aligned(kernel.parameter_bytes, declared.alignment);
  kernel.parameters.push_back({offset, declared.size, declared.alignment});
  kernel.parameter_bytes = offset + declared.size;
  scope.declare_address(declared.name, offset);
}

/// The product of `128, 2, 1`.
std::uint32_t threads_of(std::string_view text) {
  std::uint64_t threads = 1;
  for (const std::string_view part : split_operands(text)) {
    const auto number = integer_of(part);
    require(number && *number > 0 && *number <= 1024, text, " is no size of a block");
    threads *= *number;
  }
  return static_cast<std::uint32_t>(threads);
}

/// Limits on registers and on blocks at a time concern GPUs alone.
void read_directive(std::string_view text, Kernel& kernel) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view name = text.substr(0, blank), value = trimmed(text.substr(blank));
  if (name == ".maxntid" || name == ".reqntid") {
    kernel.most_threads = threads_of(value);
    if (name == ".reqntid") kernel.least_threads = kernel.most_threads;
  } else {
    require(name == ".minnctapersm" || name == ".maxnreg", "the interpreter does not know ", name);
  }
}

}  // namespace

std::string_view name_in_heading(std::string_view heading) {
  const std::string_view rest = after_entry(heading);
  return rest.substr(0, rest.find_first_of("( ."));
}

void read_heading(std::string_view heading, Kernel& kernel, Scope& scope) {
  std::string_view rest = after_entry(heading).substr(kernel.name.size());
  if (trimmed(rest).starts_with('(')) {
    const std::size_t open = rest.find('('), close = rest.find(')');
    require(close != std::string_view::npos, "nothing closes the parameters");
    for (const std::string_view text : split_operands(rest.substr(open + 1, close - open - 1)))
      read_parameter(text, kernel, scope);
    rest = rest.substr(close + 1);
  }
  for (rest = trimmed(rest); !rest.empty();) {
    const std::size_t end = std::min(rest.find('.', 1), rest.size());
    read_directive(trimmed(rest.substr(0, end)), kernel);
    rest = trimmed(rest.substr(end));
  }
}

}  // namespace trigram::ptx
