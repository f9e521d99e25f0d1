// Any data set in CSV files, by path.
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/workloads/data/csv.hpp"
#include "experiments/workloads/data/dataset.hpp"

namespace trigram {
namespace {

class CsvFiles : public DataSource {
 public:
  explicit CsvFiles(Params& params)
      : train_(params.get("train", "", "CSV file to train on, .gz or plain; every column is scaled by itself")),
        test_(params.get("test", "", "CSV file to test on")) {
    const std::string label = params.get("label", "last", "column of the class: first or last");
    require(label == "first" || label == "last",
            "data set 'csv': label=" + shown(label) + " is neither first nor last");
    layout_.label = label == "first" ? LabelColumn::first : LabelColumn::last;
    layout_.header = params.get("header", false, "whether the first line names the columns");
  }

  Dataset read() const override {
    require(!train_.empty() && !test_.empty(), "give train=FILE and test=FILE");
    CsvSamples train = read_csv(train_, layout_);
    CsvSamples test = read_csv(test_, layout_);
    require(train.columns == test.columns, test_ + " has " + std::to_string(test.columns) + " features a row where " +
                                               train_ + " has " + std::to_string(train.columns));
    Dataset dataset{"csv",
                    train.columns,
                    0,
                    {std::move(train.features), std::move(train.labels)},
                    {std::move(test.features), std::move(test.labels)}};
    finish(dataset, Scaling::by_column);
    return dataset;
  }

 private:
  std::string train_, test_;
  CsvLayout layout_;
};

const DataSources::Registration registered("csv", {"numbers with a label column in CSV files, by path"},
                                           [](Params& params) { return std::make_unique<CsvFiles>(params); });

}  // namespace
}  // namespace trigram
