#include "experiments/study/runs/first_steps.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "core/values/error.hpp"
#include "experiments/settings/files/csv_table.hpp"

namespace trigram {
namespace {

/// What some first steps came to.
struct Sum {
  double seconds = 0, bytes = 0;
};

bool within(double value, double of) {
  constexpr double share = 0.01;
  return std::abs(value - of) <= share * of;
}

}  // namespace

FirstSteps first_steps(const std::filesystem::path& run) {
  std::vector<Sum> sums;
  for (const CsvRow& row : read_csv(run / "steps.csv", "steps", [](const CsvColumns&) {})) {
    if (row.at("rank") != "0") continue;
    const double before = sums.empty() ? 0 : sums.back().bytes;
    sums.push_back({std::stod(row.at("time_s")), before + std::stod(row.at("bytes_sent"))});
  }
  ensure(!sums.empty(), [&] { return (run / "steps.csv").string() + " has no step of rank 0"; });
  const auto all = static_cast<double>(sums.size());
  const auto stands_for_all = [&](std::size_t i) {
    const auto count = static_cast<double>(i + 1);
    return within(sums[i].seconds / count, sums.back().seconds / all) &&
           within(sums[i].bytes / count, sums.back().bytes / all);
  };
  std::size_t last = 0;
  while (last + 1 < sums.size() && !stands_for_all(last)) ++last;
  const auto count = static_cast<std::int64_t>(last + 1);
  return {count, static_cast<std::int64_t>(sums.size()), sums[last].seconds / static_cast<double>(count)};
}

}  // namespace trigram
