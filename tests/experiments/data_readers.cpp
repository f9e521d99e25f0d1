// IDX and CSV readers: what they read, and what they say about files that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "core/values/error.hpp"
#include "experiments/workloads/data/csv.hpp"
#include "experiments/workloads/data/dataset.hpp"
#include "experiments/workloads/data/idx.hpp"
#include "experiments/workloads/data/read_file.hpp"

namespace trigram {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Readers : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("trigram_readers_" + std::to_string(::getpid()) + "_" +
                                                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string plain(const std::string& name, const std::string& bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string zipped(const std::string& name, const std::string& bytes) {
    const std::string path = (folder_ / name).string();
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path;
  }

  std::filesystem::path folder_;
};

template <class Read>
std::string usage_error(const Read& read) {
  try {
    read();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(no UsageError)";
}

std::string idx(char type, const std::vector<std::uint8_t>& sizes, const std::string& values) {
  std::string bytes{0, 0, type, static_cast<char>(sizes.size())};
  for (const std::uint8_t size : sizes) bytes += std::string(3, '\0') + static_cast<char>(size);
  return bytes + values;
}

TEST_F(Readers, IdxGivesSizesAndBytesPlainAndZipped) {
  const std::string bytes = idx(8, {2, 1, 3}, std::string("\x00\x01\x02\x03\x04\xff", 6));
  for (const std::string& path : {plain("a.idx", bytes), zipped("a.idx.gz", bytes)}) {
    const IdxArray array = read_idx(path, 3);
    EXPECT_THAT(array.sizes, ElementsAre(2, 1, 3));
    EXPECT_THAT(array.values, ElementsAre(0, 1, 2, 3, 4, 255));
  }
}

TEST_F(Readers, IdxErrorsNameFileAndByte) {
  const auto error = [&](const std::string& bytes) {
    return usage_error([&] { read_idx(plain("bad.idx", bytes), 1); });
  };
  EXPECT_THAT(error("\x00"), AllOf(HasSubstr("bad.idx"), HasSubstr("ends at byte")));
  EXPECT_THAT(error("PK\x08\x01"), AllOf(HasSubstr("bad.idx"), HasSubstr("byte 0")));
  EXPECT_THAT(error(idx(13, {1}, "x")), AllOf(HasSubstr("byte 2"), HasSubstr("type 13")));
  EXPECT_THAT(error(idx(8, {1, 1}, "x")), AllOf(HasSubstr("byte 3"), HasSubstr("2 dimensions where 1")));
  EXPECT_THAT(error(idx(8, {0}, "")), AllOf(HasSubstr("byte 4"), HasSubstr("size of 0")));
  EXPECT_THAT(error(idx(8, {3}, "xy")), AllOf(HasSubstr("has 10 bytes"), HasSubstr("ask for 11")));
  EXPECT_THAT(error(idx(8, {3}, "wxyz")), HasSubstr("ask for 11"));
  EXPECT_THAT(error(std::string("\x00\x00\x08\x01\x00\x00", 6)), HasSubstr("inside its sizes"));
}

TEST_F(Readers, WhatBeginsWronglyIsRefusedBeforeItIsRead) {
  // More than any machine could hold.
  const auto long_file = [&](const std::string& begin) {
    const std::string path = plain("long", begin);
    std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
    return path;
  };
  EXPECT_THAT(usage_error([&] { read_idx(long_file(""), 1); }), HasSubstr("long: byte 2: element type 0"));
  EXPECT_THAT(usage_error([&] { read_idx(long_file(idx(8, {3}, "wxyz")), 1); }),
              HasSubstr("long: has more bytes where its sizes ask for 11"));
  EXPECT_THAT(usage_error([&] { read_csv(long_file("1,2,0\n"), {}); }),
              HasSubstr("long: byte 6 is zero; a table in CSV is text"));
  EXPECT_THAT(usage_error([&] { read_file(long_file(""), 100); }),
              HasSubstr("long: has 1.1TB; a file of this kind has "));
  EXPECT_THAT(usage_error([&] { read_file(zipped("packed.gz", std::string(200, 'a')), 100); }),
              HasSubstr("packed.gz: unpacks to more than 100B, the most that a file of this kind has"));
  EXPECT_EQ(read_begin(zipped("begin.gz", "abcdef"), 3), "abc");
  EXPECT_EQ(read_begin(plain("begin", "ab"), 3), "ab");
}

TEST_F(Readers, TruncatedZipAndMissingFileAreRejected) {
  const std::string whole = zipped("whole.gz", std::string(5000, 'a') + "bcd");
  const std::size_t size = std::filesystem::file_size(whole);
  EXPECT_EQ(read_file(whole).size(), 5003U);
  std::filesystem::resize_file(whole, size - 9);
  EXPECT_THAT(usage_error([&] { read_file(whole); }), AllOf(HasSubstr("whole.gz"), HasSubstr("cannot be read")));
  EXPECT_THAT(usage_error([&] { read_file((folder_ / "none").string()); }), HasSubstr("No such file"));
  EXPECT_THAT(usage_error([&] { read_file(folder_.string()); }), HasSubstr("is no regular file"));
}

TEST_F(Readers, WhatNeverEndsIsRejected) {
  const std::string bomb = zipped("bomb.gz", std::string(70 << 20, '\0'));
  EXPECT_THAT(usage_error([&] { read_file(bomb); }),
              AllOf(HasSubstr("bomb.gz: unpacks to more than 67.11MB"), HasSubstr("stored in")));
  EXPECT_THAT(usage_error([&] { read_file("/dev/zero"); }), HasSubstr("/dev/zero: is no regular file"));
  EXPECT_THAT(usage_error([&] { read_file(folder_.string()); }), HasSubstr("is no regular file"));
}

TEST_F(Readers, CsvTakesTheLabelFromEitherEnd) {
  const CsvSamples last = read_csv(plain("last.csv", "0.5,-2,1\r\n1e1,3,0\n\n"), {});
  EXPECT_EQ(last.columns, 2);
  EXPECT_THAT(last.features, ElementsAre(0.5F, -2.0F, 10.0F, 3.0F));
  EXPECT_THAT(last.labels, ElementsAre(1, 0));
  const CsvSamples first = read_csv(zipped("first.csv.gz", "class,a,b\n1, 0.5,-2"), {LabelColumn::first, true});
  EXPECT_THAT(first.features, ElementsAre(0.5F, -2.0F));
  EXPECT_THAT(first.labels, ElementsAre(1));
}

TEST_F(Readers, CsvErrorsNameFileLineAndColumn) {
  const auto error = [&](const std::string& text) {
    return usage_error([&] { read_csv(plain("bad.csv", text), {}); });
  };
  EXPECT_THAT(error("1,2,0\n1,x,0\n"), AllOf(HasSubstr("bad.csv: line 2, column 2"), HasSubstr("'x'")));
  EXPECT_THAT(error("1,2,0\n1,,0\n"), HasSubstr("line 2, column 2"));
  EXPECT_THAT(error("1,nan,0\n"), HasSubstr("line 1, column 2"));
  EXPECT_THAT(error("1,2,0\n1,0\n"), AllOf(HasSubstr("line 2: 2 columns"), HasSubstr("first row has 3")));
  EXPECT_THAT(error("1,2,0.5\n"), AllOf(HasSubstr("line 1: label"), HasSubstr("whole number")));
  EXPECT_THAT(error("1,2,-1\n"), HasSubstr("line 1: label"));
  EXPECT_THAT(error("1,2,0\n\n1,2,0\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("7\n"), HasSubstr("at least one feature"));
  EXPECT_THAT(error(""), HasSubstr("no rows"));
}

TEST_F(Readers, DataSetsByPathSayWhatDoesNotFit) {
  const std::string two = plain("two.csv", "1,2,0\n3,4,1\n");
  const std::string three = plain("three.csv", "1,2,3,0\n");
  EXPECT_THAT(usage_error([&] { shared_dataset("csv:train=" + two + ",test=" + three); }),
              AllOf(HasSubstr("three.csv has 3 features"), HasSubstr("two.csv has 2")));
  EXPECT_THAT(usage_error([] { shared_dataset("csv"); }), HasSubstr("train=FILE"));
  EXPECT_THAT(usage_error([&] { shared_dataset("csv:train=" + two + ",test=" + two + ",label=left"); }),
              HasSubstr("label=left"));
  EXPECT_THAT(usage_error([] { shared_dataset("nothing"); }),
              AllOf(HasSubstr("unknown data set"), HasSubstr("digits")));
  EXPECT_THAT(usage_error([&] { shared_dataset("fashion_mnist:folder=" + folder_.string()); }),
              HasSubstr("dataset-fashion-mnist"));
  const std::string images = plain("images", idx(8, {2, 1, 1}, "ab"));
  const std::string labels = plain("labels", idx(8, {1}, std::string(1, '\0')));
  EXPECT_THAT(usage_error([&] {
                shared_dataset("idx:train_images=" + images + ",train_labels=" + labels + ",test_images=" + images +
                               ",test_labels=" + labels);
              }),
              AllOf(HasSubstr("2 images"), HasSubstr("1 labels")));
}

TEST_F(Readers, ColumnsOfCsvDataAreScaledByTheTrainingSet) {
  // Training columns {1, 3} and {5, 5}: means 2 and 5, deviations 1 and none.
  const std::string train = plain("train.csv", "1,5,0\n3,5,1\n");
  const auto data = shared_dataset("csv:train=" + train + ",test=" + plain("test.csv", "6,7,2\n"));
  EXPECT_THAT(data->train.features, ElementsAre(-1.0F, 0.0F, 1.0F, 0.0F));
  EXPECT_THAT(data->test.features, ElementsAre(4.0F, 2.0F));
  EXPECT_EQ(data->classes, 3);
}

TEST(Digits, AreTheUciTestPartCutFourToOne) {
  const auto digits = shared_dataset("digits");
  EXPECT_EQ(digits->features, 64);
  EXPECT_EQ(digits->classes, 10);
  EXPECT_EQ(digits->train.count(), 1438);
  EXPECT_EQ(digits->test.count(), 359);
  // The class counts of the UCI test part, as its documentation gives them.
  std::vector<int> counts(10, 0);
  for (const Samples* set : {&digits->train, &digits->test}) {
    for (const std::int32_t label : set->labels) ++counts[static_cast<std::size_t>(label)];
  }
  EXPECT_THAT(counts, ElementsAre(178, 182, 177, 183, 181, 182, 181, 179, 174, 180));
  double sum = 0;
  double squares = 0;
  for (const float x : digits->train.features) sum += x, squares += static_cast<double>(x) * x;
  const auto count = static_cast<double>(digits->train.features.size());
  EXPECT_NEAR(sum / count, 0, 1e-6);
  EXPECT_NEAR(squares / count, 1, 1e-6);
  EXPECT_EQ(shared_dataset("digits"), digits) << "read once a process";
}

TEST(FashionMnist, HasTheShapeOfItsPaper) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const auto data = shared_dataset("fashion_mnist");
  EXPECT_EQ(data->train.count(), 60000);
  EXPECT_EQ(data->test.count(), 10000);
  EXPECT_EQ(data->features, 784);
  std::vector<int> counts(10, 0);
  for (const std::int32_t label : data->train.labels) ++counts[static_cast<std::size_t>(label)];
  EXPECT_THAT(counts, ::testing::Each(6000));
}

}  // namespace
}  // namespace trigram
