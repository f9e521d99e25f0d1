// A number of a cluster that is to be found from measurements, between two ends that it cannot leave.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/values/units.hpp"

namespace trigram {

/// Searched for on a logarithmic scale where its ends are more than a factor of ten apart.
class FitParameter {
 public:
  /// Between `least` and `most`, numbers or quantities of one unit: "64KiB" and "16MiB". Throws UsageError for what is
  /// neither, and for ends that are below 0 or in the wrong order.
  FitParameter(std::string key, const std::string& least, const std::string& most);
  /// Between the least and the most of several.
  static FitParameter spanning(const std::string& key, const std::vector<std::string>& values);

  const std::string& key() const { return key_; }
  double value(double place) const;         ///< in the unit's base; `place` from 0 to 1
  double place_of(double value) const;      ///< ends for what is beyond them
  std::string text(double place) const;     ///< as the cluster reads it, to the last digit
  std::string rounded(double place) const;  ///< for people and files, in four digits
  /// Where a text of the cluster stands; nothing for what is no such number, or beyond the ends.
  std::optional<double> place_of_text(const std::string& text) const;

 private:
  std::string key_;
  std::optional<Unit> unit_;
  double least_ = 0, most_ = 0;
  bool logarithmic_ = false;
};

/// Those of "nic_efficiency,nic_window=64KiB:16MiB": parameters of the simulator, between the ends of their physical
/// ranges where none are given. Throws UsageError for one that the simulator lacks or that is no number, one without a
/// known range, and one given twice.
std::vector<FitParameter> read_fit_parameters(const std::string& text);

}  // namespace trigram
