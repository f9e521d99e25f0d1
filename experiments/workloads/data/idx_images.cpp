// Joins IDX images and labels.
#include "experiments/workloads/data/idx_images.hpp"

#include "core/error.hpp"
#include "experiments/workloads/data/idx.hpp"

namespace trigram {
namespace {

constexpr float largest_pixel = 255.0F;

/// The samples of one pair of files; `features` is set by the first pair and checked against the second.
Samples read_pair(const std::string& images_path, const std::string& labels_path, std::int64_t& features) {
  const IdxArray images = read_idx(images_path, 3);
  const IdxArray labels = read_idx(labels_path, 1);
  require(images.sizes[0] == labels.sizes[0], images_path + " has " + std::to_string(images.sizes[0]) +
                                                  " images, but " + labels_path + " has " +
                                                  std::to_string(labels.sizes[0]) + " labels");
  const std::int64_t pixels = images.sizes[1] * images.sizes[2];
  if (features == 0) features = pixels;
  require(pixels == features, images_path + " has images of " + std::to_string(pixels) +
                                  " pixels where the training set has " + std::to_string(features));
  Samples samples;
  samples.features.reserve(images.values.size());
  for (const std::uint8_t pixel : images.values) samples.features.push_back(static_cast<float>(pixel) / largest_pixel);
  samples.labels.assign(labels.values.begin(), labels.values.end());
  return samples;
}

}  // namespace

Dataset read_idx_images(const std::string& name, const IdxPaths& paths) {
  Dataset dataset;
  dataset.name = name;
  dataset.train = read_pair(paths.train_images, paths.train_labels, dataset.features);
  dataset.test = read_pair(paths.test_images, paths.test_labels, dataset.features);
  finish(dataset, Scaling::whole);
  return dataset;
}

}  // namespace trigram
