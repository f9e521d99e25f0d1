// Joins IDX images and labels.
#include "experiments/workloads/data/idx_images.hpp"

#include "core/values/error.hpp"
#include "experiments/workloads/data/idx.hpp"

namespace trigram {
namespace {

constexpr float largest_pixel = 255.0F;

/// "28x28"
std::string words_of(const ImageSize& size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

/// The samples of one pair of files; the size of images is set by the first pair and checked against the second.
Samples read_pair(const std::string& images_path, const std::string& labels_path, Dataset& dataset) {
  const IdxArray images = read_idx(images_path, 3);
  const IdxArray labels = read_idx(labels_path, 1);
  require(images.sizes[0] == labels.sizes[0], images_path + " has " + std::to_string(images.sizes[0]) +
                                                  " images, but " + labels_path + " has " +
                                                  std::to_string(labels.sizes[0]) + " labels");
  const ImageSize size{images.sizes[1], images.sizes[2]};
  if (dataset.features == 0) {
    dataset.image = size;
    dataset.features = size.height * size.width;
  }
  require(size.height == dataset.image.height && size.width == dataset.image.width,
          images_path + " has images of " + words_of(size) + " pixels where the training set has " +
              words_of(dataset.image));
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
  dataset.train = read_pair(paths.train_images, paths.train_labels, dataset);
  dataset.test = read_pair(paths.test_images, paths.test_labels, dataset);
  finish(dataset, Scaling::whole);
  return dataset;
}

}  // namespace trigram
