// Cutting buffers: real and modelled sizes, phantoms, and views of other types.
#include "core/values/buffer.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/values/error.hpp"

namespace trigram {
namespace {

TEST(Parts, CoverEveryElementOnceAndDifferByOneAtMost) {
  for (const std::int64_t count : {0, 1, 5, 7, 8, 1000003}) {
    for (const int parts : {1, 2, 3, 7, 8}) {
      std::int64_t begin = 0;
      for (int part = 0; part < parts; ++part) {
        EXPECT_EQ(part_begin(count, parts, part), begin);
        EXPECT_EQ(part_count(count, parts, part), count / parts + (part < count % parts ? 1 : 0));
        begin += part_count(count, parts, part);
      }
      EXPECT_EQ(begin, count);
      EXPECT_EQ(part_begin(count, parts, parts), count);
    }
  }
}

TEST(Chunks, OfLongVectorsBeginAtWholeGrainsAndNoneIsMuchLonger) {
  for (const std::int64_t count : {4096000, 4097000, 4097001, 1000003, 32768, 32769, 32831}) {
    for (const int parts : {1, 2, 3, 7, 8}) {
      std::int64_t begin = 0;
      for (int part = 0; part < parts; ++part) {
        EXPECT_EQ(chunk_begin(count, parts, part), begin);
        EXPECT_EQ(begin % 64, 0) << count << " in " << parts;
        const std::int64_t size = chunk_count(count, parts, part);
        EXPECT_GT(size, 0);
        EXPECT_LE(size, chunk_count(count, parts, 0));
        EXPECT_LT(size, count / parts + 1 + 64);
        EXPECT_GE((size + 63) / 64 + 1, (chunk_count(count, parts, 0) + 63) / 64) << "more than one grain apart";
        begin += size;
      }
      EXPECT_EQ(begin, count);
      EXPECT_EQ(chunk_begin(count, parts, parts), count);
    }
  }
}

TEST(Chunks, OfShortVectorsAndOfWholeGrainsAreTheEvenParts) {
  for (const std::int64_t count : {0, 1, 7, 1000, 4095 * 3 + 2, 64 * 8 * 4096, 64 * 8 * 100}) {
    for (const int parts : {3, 8}) {
      if (count >= parts * 4096 && count % (64 * parts) != 0) continue;
      for (int part = 0; part <= parts; ++part) {
        EXPECT_EQ(chunk_begin(count, parts, part), part_begin(count, parts, part)) << count << " in " << parts;
      }
    }
  }
}

TEST(Slices, PointIntoTheSameMemory) {
  std::array<std::int32_t, 6> memory{0, 1, 2, 3, 4, 5};
  const Buffer x(memory.data(), Shape::of(6, DType::i32));
  EXPECT_EQ(x.slice(2, 3).data<std::int32_t>(), memory.data() + 2);
  EXPECT_EQ(x.slice(2, 3).bytes(), 12);
  EXPECT_EQ(x.chunk(1, 4).data<std::int32_t>(), memory.data() + 2);
  EXPECT_EQ(x.chunk(1, 4).count(), 2);
  EXPECT_EQ(x.chunk(3, 4).count(), 1);
  EXPECT_EQ(x.slice(6, 0).count(), 0);
}

TEST(Slices, ThatLeaveTheBufferAreErrors) {
  const Buffer x(nullptr, Shape::of(6, DType::f32));
  EXPECT_THROW(x.slice(4, 3), Error);
  EXPECT_THROW(x.slice(-1, 2), Error);
  EXPECT_THROW(x.slice(2, -1), Error);
}

TEST(Slices, ModelledSizesAddUpHoweverTheBufferIsCut) {
  const Buffer x(nullptr, Shape{7, DType::f32, 1000003, true});
  std::int64_t sliced = 0;
  for (int i = 0; i < 7; ++i) sliced += x.slice(i, 1).modelled_count();
  EXPECT_EQ(sliced, 1000003);
  std::int64_t chunked = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(x.chunk(i, 3).modelled_count(), chunk_count(1000003, 3, i));
    chunked += x.chunk(i, 3).modelled_count();
  }
  EXPECT_EQ(chunked, 1000003);
  EXPECT_EQ(x.slice(0, 2, 99).modelled_bytes(), 396);
}

TEST(Slices, APhantomWithoutElementsIsCutByItsModelledSize) {
  const Buffer x(nullptr, Shape{0, DType::f32, 10, true});
  EXPECT_EQ(x.chunk(0, 4).modelled_count(), 3);
  EXPECT_EQ(x.chunk(3, 4).modelled_count(), 2);
  EXPECT_EQ(x.bytes(), 0);
  EXPECT_EQ(x.modelled_bytes(), 40);
  EXPECT_FALSE(x.empty());
}

TEST(Views, OfAnotherTypeKeepTheBytes) {
  std::array<float, 4> memory{};
  const Buffer x(memory.data(), Shape::of(4, DType::f32));
  EXPECT_EQ(x.as(DType::u8).count(), 16);
  EXPECT_EQ(x.as(DType::i64).count(), 2);
  EXPECT_THROW(x.slice(0, 3).as(DType::i64), Error);
}

TEST(Views, RefuseToShowWhatIsNotThere) {
  std::array<float, 4> memory{};
  EXPECT_THROW(Buffer(memory.data(), Shape::of(4, DType::f32)).data<std::int64_t>(), Error);
  EXPECT_THROW(Buffer(nullptr, Shape{4, DType::f32, 4, true}).data<float>(), Error);
}

}  // namespace
}  // namespace trigram
