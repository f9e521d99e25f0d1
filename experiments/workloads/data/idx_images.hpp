// Image data sets in pairs of IDX files.
#pragma once

#include <string>

#include "experiments/workloads/data/dataset.hpp"

namespace trigram {

/// The files of one data set: images of three dimensions and labels of one.
struct IdxPaths {
  std::string train_images, train_labels, test_images, test_labels;
};

/// Reads and scales them (pixels / 255, then mean and deviation of the training set). Throws UsageError when images
/// and labels differ in number, or the two sets in size of image.
Dataset read_idx_images(const std::string& name, const IdxPaths& paths);

}  // namespace trigram
