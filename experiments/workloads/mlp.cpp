// A multilayer perceptron with ReLU: the smallest network that is not convex.
#include <charconv>
#include <string_view>

#include "core/error.hpp"
#include "core/quoted.hpp"
#include "experiments/workloads/classifier.hpp"

namespace trigram {
namespace {

/// "64x32" is {64, 32}.
std::vector<std::int64_t> parse_widths(const std::string& text, const std::string& owner) {
  constexpr std::int64_t most_width = 1 << 20;
  constexpr std::size_t most_layers = 256;
  std::vector<std::int64_t> widths;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (bool more = true; more;) {
    std::int64_t width = 0;
    const auto [stop, error] = std::from_chars(at, end, width);
    more = stop != end && *stop == 'x';
    require(error == std::errc() && width > 0 && (more || stop == end), owner, ": hidden=", shown(text),
            " is no list of widths; write 64 or 64x32");
    widths.push_back(width);
    require(width <= most_width && widths.size() <= most_layers, owner, ": hidden=", shown(text),
            " is beyond what an mlp is for; at most ", most_layers, " layers of ", most_width);
    at = more ? stop + 1 : stop;
  }
  return widths;
}

const Workloads::Registration registered("mlp", {"multilayer perceptron with ReLU on real data"}, [](Params& params) {
  const std::string hidden = params.get("hidden", "32", "widths of the hidden layers, as 64x32");
  return std::make_unique<Classifier>("mlp", parse_widths(hidden, params.owner()), params);
});

}  // namespace
}  // namespace trigram
