// A data set whose ranks see other kinds of features, or have shards of other sizes.
#include <memory>
#include <string>

#include "core/values/error.hpp"
#include "core/values/random.hpp"
#include "experiments/workloads/data/dataset.hpp"

namespace trigram {
namespace {

constexpr int domain_stream = 6;

/// Samples of another data set, each of one of `domains` kinds at random, as many of each. Domain d of D has features
/// x (1 + scale·t) + shift·t, where t goes from −1 for the first domain to 1 for the last, so that means over all
/// domains stay; with `rotate`, square images are turned by d quarters, as in rotated MNIST (Ghosh et al., An
/// efficient framework for clustered federated learning, NeurIPS 2020, arXiv:2006.04088). Which rank draws from which
/// domain, and how much, is uneven_partition's; the test set has all domains.
class Skewed : public DataSource {
 public:
  explicit Skewed(Params& params)
      : of_(params.get("of", "digits", "the data set that is skewed")),
        domains_(params.get("domains", 1, "kinds of features; rank r draws from kind r mod domains", {1, 1 << 20})),
        rotate_(params.get("rotate", false, "turn square images by as many quarters as the domain's number")),
        shift_(params.get("shift", 0.0, "added to the features of the last domain, taken from the first", {0, 1e6})),
        scale_(params.get("scale", 0.0, "the last domain's features are longer by this share, the first's shorter",
                          {0, 1})),
        power_(params.get("power", 0.0, "sizes of shards fall as (rank + 1)^-power; 0: even", {0, 16})) {
    require(domains_ > 1 || !(rotate_ || shift_ > 0 || scale_ > 0),
            params.owner() + ": rotate, shift and scale set domains apart; give domains=2 or more");
  }

  Dataset read() const override {
    Dataset data = DataSources::make(of_)->read();
    const std::int64_t side = data.image.height;
    require(!rotate_ || (side > 0 && side == data.image.width), "rotate=on needs square images; those of '", data.name,
            "' have ", side, " rows and ", data.image.width, " columns");
    data.name = "skewed " + data.name;
    data.domains = domains_;
    data.power = power_;
    for (Samples* samples : {&data.train, &data.test}) {
      draw_domains(*samples);
      for (std::int64_t i = 0; i < samples->count(); ++i) {
        change(samples->features.data() + i * data.features, data.features, side,
               samples->domains[static_cast<std::size_t>(i)]);
      }
    }
    return data;
  }

 private:
  /// Which domain a sample is of is the data set's affair, not the run's: it has no seed.
  void draw_domains(Samples& samples) const {
    samples.domains.resize(samples.labels.size());
    const Philox stream({.bucket = domain_stream, .phase = Phase::data});
    std::int64_t position = 0;
    for (const std::int64_t i : random_permutation(stream, samples.count())) {
      samples.domains[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(position++ % domains_);
    }
  }

  void change(float* features, std::int64_t count, std::int64_t side, int domain) const {
    for (int quarter = 0; rotate_ && quarter < domain % 4; ++quarter) turn(features, side);
    const double t = domains_ == 1 ? 0 : 2.0 * domain / (domains_ - 1) - 1;
    for (std::int64_t k = 0; k < count; ++k)
      features[k] = static_cast<float>(features[k] * (1 + scale_ * t) + shift_ * t);
  }

  /// A quarter, clockwise.
  static void turn(float* image, std::int64_t side) {
    const std::vector<float> before(image, image + side * side);
    for (std::int64_t row = 0; row < side; ++row) {
      for (std::int64_t column = 0; column < side; ++column) {
        image[column * side + side - 1 - row] = before[static_cast<std::size_t>(row * side + column)];
      }
    }
  }

  std::string of_;
  int domains_;
  bool rotate_;
  double shift_, scale_, power_;
};

const DataSources::Registration registered(
    "skewed", {"another data set, with features or sizes of shards that differ between ranks"},
    [](Params& params) { return std::make_unique<Skewed>(params); });

}  // namespace
}  // namespace trigram
