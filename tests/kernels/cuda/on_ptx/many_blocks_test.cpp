// What blocks leave to each other on a device that holds 1,056 of them, as an H100 does, beside the plain host: parts
// of a range, counts of digits, correct rows. With more of them than the threads that read them.
#include <gtest/gtest.h>

#include "core/step/operation.hpp"
#include "tests/kernels/cuda/on_ptx/new_device.hpp"

namespace trigram::on_ptx {
namespace {

class ManyBlocks : public testing::Test {
 protected:
  ResidentBlocks resident_{1056};

  void expect_same_frame(const std::string& spec, const std::vector<float>& vector, std::int64_t offset = 0) {
    NewDevice device;
    TestDevice plain(Instructions::portable);
    EXPECT_EQ(device.encode(*device.make_codec(spec), vector, offset), plain.encode(*plain.make_codec(spec), vector))
        << spec << " of " << vector.size() << " behind " << offset;
  }
};

std::vector<float> wide_at_its_ends(std::int64_t count) {
  std::vector<float> vector(static_cast<std::size_t>(count), 0.25F);
  vector.front() = -1;
  vector.back() = 2;
  return vector;
}

TEST_F(ManyBlocks, LeaveThePartsOfARange) {
  for (const std::int64_t blocks : {255, 256, 257, 300})
    expect_same_frame("minmax_uint8", wide_at_its_ends(4096 * blocks));
}

TEST_F(ManyBlocks, LeaveThePartsOfARangeThatIsReadElementByElement) {
  for (const std::int64_t blocks : {256, 257}) expect_same_frame("minmax_uint8", wide_at_its_ends(4096 * blocks), 1);
}

constexpr std::int64_t counted_by_a_block = 248 * 128;

TEST_F(ManyBlocks, CountDigits) {
  for (const std::int64_t blocks : {1, 2, 3, 7, 8, 9, 16})
    expect_same_frame("top_k:fraction=0.01", random_vector(counted_by_a_block * blocks, 3));
}

// Fewer elements than are kept are not 0, and where a block's elements end there is one of them.
TEST_F(ManyBlocks, KeepTheFirstOfEqualElementsWhereverABlockEnds) {
  for (std::int64_t more = 0; more < 8; ++more) {
    const std::int64_t size = counted_by_a_block - 96 - 128 * more;  // of each of ten blocks, which run in any order
    std::vector<float> vector(static_cast<std::size_t>(10 * size), 0.0F);
    for (std::size_t i = 1; i < 10; ++i) vector[i * static_cast<std::size_t>(size)] = 1;
    expect_same_frame("top_k:fraction=0.9", vector);
  }
}

TEST_F(ManyBlocks, CountCorrectRows) {
  for (const std::int64_t blocks : {31, 32, 33, 96, 97, 128, 129, 160}) {
    NewDevice device;
    const std::int64_t rows = 8 * blocks;
    const OwnedBuffer correct = device.hold<std::int64_t>({0}, DType::i64);
    const OwnedBuffer logits = device.hold(std::vector<float>(static_cast<std::size_t>(rows), 1.0F), DType::f32),
                      labels = device.hold(std::vector<std::int32_t>(static_cast<std::size_t>(rows)), DType::i32);
    AppliedOperation(device, "count_correct", {{{rows, 1}}, {{rows}, DType::i32}})
        .forward(device, {.inputs = {logits, labels}, .outputs = {correct}});
    EXPECT_EQ(device.values<std::int64_t>(correct)[0], rows);
  }
}

}  // namespace
}  // namespace trigram::on_ptx
