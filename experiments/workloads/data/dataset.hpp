// Labelled samples by name: read once a process, shared between its ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"

namespace trigram {

/// Feature rows, row-major, and one label in [0, classes) each.
struct Samples {
  std::vector<float> features;
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> domains = {};  ///< the kind of each one's features; empty: all alike
  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Height and width of grey images; 0 where samples are none.
struct ImageSize {
  std::int64_t height = 0, width = 0;
};

/// A training and a test set.
struct Dataset {
  std::string name;
  std::int64_t features = 0;
  int classes = 0;
  Samples train;
  Samples test;
  ImageSize image = {};  ///< where features are the pixels of one, by rows
  int domains = 1;       ///< kinds of features, which ranks draw from apart
  double power = 0;      ///< sizes of the ranks' shards fall as (rank + 1)^−power
};

/// A kind of data set: what registers under a name and reads files.
class DataSource {
 public:
  static constexpr const char* registry_kind = "data set";
  virtual ~DataSource() = default;
  /// Throws UsageError naming the file and the place in it.
  virtual Dataset read() const = 0;
};

using DataSources = Registry<DataSource>;

/// How features become numbers around zero: x ← (x − mean) / deviation, both taken over the training set.
enum class Scaling : std::uint8_t {
  whole,     ///< one mean and deviation for all features: the pixels of an image
  by_column  ///< one for each feature: columns of unlike things; a constant column becomes 0
};

/// Scales both sets, sets `classes` from the largest label, and checks that the sets fit together. Throws UsageError.
void finish(Dataset& dataset, Scaling scaling);

/// The data set of a spec ("digits", "csv:train=a.csv,test=b.csv"), read at the first call of this process. Any thread
/// may call.
std::shared_ptr<const Dataset> shared_dataset(const std::string& spec);

}  // namespace trigram
