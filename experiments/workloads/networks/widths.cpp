#include "experiments/workloads/networks/widths.hpp"

#include <charconv>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

std::vector<std::int64_t> parse_widths(const std::string& owner, const std::string& key, const std::string& text) {
  constexpr std::int64_t most_width = 1 << 20;
  constexpr std::size_t most_layers = 256;
  std::vector<std::int64_t> widths;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (bool more = true; more;) {
    std::int64_t width = 0;
    const auto [stop, error] = std::from_chars(at, end, width);
    more = stop != end && *stop == 'x';
    require(error == std::errc() && width > 0 && (more || stop == end), owner, ": ", key, "=", shown(text),
            " is no list of widths; write 64 or 64x32");
    widths.push_back(width);
    require(width <= most_width && widths.size() <= most_layers, owner, ": ", key, "=", shown(text),
            " is beyond what it is for; at most ", most_layers, " layers of ", most_width);
    at = more ? stop + 1 : stop;
  }
  return widths;
}

}  // namespace trigram
