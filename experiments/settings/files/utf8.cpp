#include "experiments/settings/files/utf8.hpp"

#include <nlohmann/json.hpp>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

void require_utf8(const std::string& text, const std::string& place) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::type_error&) {
    throw UsageError(place + ", " + in_quotes(text) +
                     ", holds bytes that are no UTF-8, which result files cannot hold; use UTF-8");
  }
}

}  // namespace trigram
