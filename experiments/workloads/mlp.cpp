// A multilayer perceptron with ReLU: the smallest network that is not convex.
#include <charconv>
#include <string_view>

#include "core/error.hpp"
#include "experiments/workloads/classifier.hpp"

namespace trigram {
namespace {

/// "64x32" is {64, 32}.
std::vector<std::int64_t> parse_widths(const std::string& text, const std::string& owner) {
  std::vector<std::int64_t> widths;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (bool more = true; more;) {
    std::int64_t width = 0;
    const auto [stop, error] = std::from_chars(at, end, width);
    more = stop != end && *stop == 'x';
    require(error == std::errc() && width > 0 && (more || stop == end),
            owner + ": hidden=" + text + " is no list of widths; write 64 or 64x32");
    widths.push_back(width);
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
