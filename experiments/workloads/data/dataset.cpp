// Scaling and sharing of data sets.
#include "experiments/workloads/data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "core/values/error.hpp"
#include "core/values/located.hpp"

namespace trigram {
namespace {

/// Mean and deviation of every `stride`-th training feature from `first` on, subtracted and divided in both sets.
void scale(Dataset& dataset, std::size_t first, std::size_t stride) {
  const std::vector<float>& train = dataset.train.features;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = first; i < train.size(); i += stride, ++count) sum += train[i];
  const double mean = sum / static_cast<double>(count);
  double squares = 0;
  for (std::size_t i = first; i < train.size(); i += stride) squares += (train[i] - mean) * (train[i] - mean);
  const double deviation = squares > 0 ? std::sqrt(squares / static_cast<double>(count)) : 1.0;
  for (std::vector<float>* features : {&dataset.train.features, &dataset.test.features}) {
    for (std::size_t i = first; i < features->size(); i += stride) {
      (*features)[i] = static_cast<float>(((*features)[i] - mean) / deviation);
    }
  }
}

std::int32_t largest_label(const Samples& samples) {
  return *std::max_element(samples.labels.begin(), samples.labels.end());
}

}  // namespace

void finish(Dataset& dataset, Scaling scaling) {
  for (const Samples* samples : {&dataset.train, &dataset.test}) {
    require(samples->count() > 0, "an empty training or test set");
    ensure(static_cast<std::int64_t>(samples->features.size()) == samples->count() * dataset.features,
           "data set '" + dataset.name + "': features and labels differ in length");
  }
  dataset.classes = 1 + std::max(largest_label(dataset.train), largest_label(dataset.test));
  const auto features = static_cast<std::size_t>(dataset.features);
  if (scaling == Scaling::whole) return scale(dataset, 0, 1);
  for (std::size_t column = 0; column < features; ++column) scale(dataset, column, features);
}

std::shared_ptr<const Dataset> shared_dataset(const std::string& spec) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Dataset>> read;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Dataset>& dataset = read[spec];
  if (dataset == nullptr) {
    const auto source = DataSources::make(spec);
    const std::string place = name_of_owner(DataSource::registry_kind, Spec::parse(spec).name) + ": ";
    dataset = std::make_shared<const Dataset>(located(place, [&] { return source->read(); }));
  }
  return dataset;
}

}  // namespace trigram
