#include "core/values/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/values/error.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// The number after `label` in a file of the kernel; none where there is no such file, label or number.
double number_after(const char* file, const std::string& label) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(label)) continue;
    std::istringstream rest(line.substr(label.size()));
    double number = 0;
    return rest >> number ? number : no_limit;
  }
  return no_limit;
}

double free_on_machine() {
  constexpr double kibi = 1024;
  return kibi * number_after("/proc/meminfo", "MemAvailable:");
}

double free_in_address_space() {
  constexpr double page = 4096;
  const double limit = number_after("/proc/self/limits", "Max address space");
  return limit == no_limit ? no_limit : limit - page * number_after("/proc/self/statm", "");
}

double free_in_control_group() {
  const double limit = number_after("/sys/fs/cgroup/memory.max", "");
  return limit == no_limit ? no_limit : limit - number_after("/sys/fs/cgroup/memory.current", "");
}

}  // namespace

double available_memory() { return std::min({free_on_machine(), free_in_address_space(), free_in_control_group()}); }

void require_memory(double bytes, std::string_view what) {
  const double available = available_memory();
  require(
      bytes <= available, what, " would take about ", [&] { return format_quantity(bytes, Unit::bytes); },
      " of memory; there are ", [&] { return format_quantity(std::max(0.0, available), Unit::bytes); });
}

void require_address_space(double bytes, std::string_view what) {
  const double left = free_in_address_space();
  require(
      bytes <= left, what, " may take ", [&] { return format_quantity(bytes, Unit::bytes); },
      " of address space; the limit of this process (ulimit -v) leaves ",
      [&] { return format_quantity(std::max(0.0, left), Unit::bytes); }, "; raise it, or ask for fewer");
}

}  // namespace trigram
