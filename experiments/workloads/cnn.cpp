// A convolutional network on images, with batch norm or without.
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/workloads/networks/classifier.hpp"
#include "experiments/workloads/networks/convolutional.hpp"
#include "experiments/workloads/networks/widths.hpp"

namespace trigram {
namespace {

ChannelNorm parse_norm(const std::string& owner, const std::string& text) {
  require(text == "batch" || text == "none", owner, ": norm=", shown(text), " is neither batch nor none");
  return text == "batch" ? ChannelNorm::batch : ChannelNorm::none;
}

MakeNetwork over_images(const std::string& owner, const std::vector<std::int64_t>& channels, ChannelNorm norm) {
  return [=](const Dataset& data) {
    require(data.image.height > 0, owner, ": samples of data set ", in_quotes(data.name),
            " are no images; data=digits, fashion_mnist and (idx:...) are");
    return std::make_unique<Convolutional>(owner, data.image, channels, norm, data.classes);
  };
}

const Workloads::Registration registered(
    "cnn", {"convolutional network on images: filters of 3x3, batch norm, max pooling, ReLU, a fully connected layer"},
    [](Params& params) {
      const std::string channels = params.get("channels", "16x32", "channels of the convolutions, as 16x32");
      const std::string norm = params.get("norm", "batch", "batch: by each rank's batch, none: a bias instead");
      return std::make_unique<Classifier>(
          "cnn",
          over_images(params.owner(), parse_widths(params.owner(), "channels", channels),
                      parse_norm(params.owner(), norm)),
          params);
    });

}  // namespace
}  // namespace trigram
