// Values that are not known exactly: "25us in 15us..60us", as files of clusters and systems have them.
#pragma once

#include <optional>
#include <string>

namespace trigram {

/// A value, and the least and the most that it may well be, in text as a parameter takes it.
struct UncertainValue {
  std::string value, least, most;
};

/// What "VALUE in LEAST..MOST" says; nothing for any other text. Throws UsageError where the three are not quantities
/// of one kind in this order.
std::optional<UncertainValue> uncertain_value(const std::string& text);

/// The value alone; other texts as they are. Throws as `uncertain_value` does.
std::string without_range(const std::string& text);

/// The quantile u, from 0 (the least) to 1 (the most), where the value is the median: on either side the logarithm is
/// spread evenly, or what is itself, where one end is 0. Whole numbers stay whole.
std::string at_quantile(const UncertainValue& value, double u);

/// How far the quantile u is from the value, as `at_quantile` has it: from -1 to 1, 1 being the way to the farther end.
double move_at(const UncertainValue& value, double u);

}  // namespace trigram
