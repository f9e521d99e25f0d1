// UCI optical handwritten digits: small enough to come with the project, for tests and first runs.
#include "experiments/workloads/data/csv.hpp"
#include "experiments/workloads/data/dataset.hpp"
#include "experiments/workloads/data/shipped_files.hpp"

namespace trigram {
namespace {

constexpr std::size_t test_every = 5;
constexpr std::int64_t side = 8;  // of an image

/// 1,797 images of 8×8 with pixels from 0 to 16. Every fifth sample (indices 4, 9, …) is a test sample: 1,438 to train,
/// 359 to test, with the same writers in both.
class Digits : public DataSource {
 public:
  explicit Digits(Params& params)
      : path_(params.get("path", "", "digits.csv.gz; empty: the one that comes with trigram")) {}

  Dataset read() const override {
    const CsvSamples all = read_csv(path_.empty() ? shipped_file("data/digits.csv.gz").string() : path_, {});
    Dataset digits{"digits", all.columns, 0, {}, {}};
    if (all.columns == side * side) digits.image = {side, side};
    for (std::size_t i = 0; i < all.labels.size(); ++i) {
      Samples& set = i % test_every == test_every - 1 ? digits.test : digits.train;
      const auto row = all.features.begin() + static_cast<std::ptrdiff_t>(i) * all.columns;
      set.features.insert(set.features.end(), row, row + all.columns);
      set.labels.push_back(all.labels[i]);
    }
    finish(digits, Scaling::whole);
    return digits;
  }

 private:
  std::string path_;
};

const DataSources::Registration registered(
    "digits",
    {"handwritten digits, 1,797 of 8x8: 1,438 to train, 359 to test",
     "Alpaydin & Kaynak, Optical Recognition of Handwritten Digits, UCI 1998, doi:10.24432/C50P49"},
    [](Params& params) { return std::make_unique<Digits>(params); });

}  // namespace
}  // namespace trigram
