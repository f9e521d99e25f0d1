// One list is written and read back: who writes packs, and who reads unpacks.
#include "core/step/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

class StateTest : public ::testing::Test {
 protected:
  void list(State& state) {
    state.packed(
        "words", [this] { return ++packs_, words_; },
        [this](const auto& bytes) {
          ++unpacks_;
          words_ = bytes;
        });
    state.value("number", number_);
  }

  Timeline timeline_{[] { return 0.0; }, false};
  Device device_{cpu_kernels(), timeline_};
  std::vector<std::byte> words_{std::byte{7}, std::byte{8}};
  int number_ = 5;
  int packs_ = 0, unpacks_ = 0;
};

TEST_F(StateTest, IsPackedByWhoWritesAndUnpackedByWhoReads) {
  Packer packer;
  StateWriter writer(device_, packer);
  list(writer);
  EXPECT_EQ(packs_, 1);
  EXPECT_EQ(unpacks_, 0);
  const std::vector<std::byte> held = std::move(packer).bytes();
  words_.clear();
  number_ = 0;
  Unpacker unpacker(held);
  StateReader reader(device_, unpacker);
  list(reader);
  EXPECT_EQ(packs_, 1);
  EXPECT_EQ(unpacks_, 1);
  EXPECT_THAT(words_, ElementsAre(std::byte{7}, std::byte{8}));
  EXPECT_EQ(number_, 5);
}

TEST_F(StateTest, IsWrittenIntoMemoryOfBefore) {
  const OwnedBuffer x = device_.allocate(Shape::of(1000, DType::f32));
  std::vector<std::byte> kept;
  const auto written = [&] {
    Packer packer(std::move(kept));
    StateWriter(device_, packer).buffer("momentum", x);
    return std::move(packer).bytes();
  };
  kept = written();
  const std::vector<std::byte> first = kept;
  const std::byte* const memory = kept.data();
  kept = written();
  EXPECT_EQ(kept, first);
  EXPECT_EQ(kept.data(), memory);
}

TEST_F(StateTest, HasRoomOnlyForWhatWasHeld) {
  for (const std::int64_t held : {0, 3}) {
    Packer packer;
    StateWriter writer(device_, packer);
    const OwnedBuffer x = held == 0 ? OwnedBuffer() : device_.allocate(Shape::of(held, DType::f32));
    writer.buffer("owed", x).value("number", number_);
    const std::vector<std::byte> bytes = std::move(packer).bytes();
    Unpacker unpacker(bytes);
    StateReader reader(device_, unpacker);
    OwnedBuffer room;
    reader.room("owed", room, Shape::of(3, DType::f32), Fate::averaged).value("number", number_);
    EXPECT_EQ(room.view().count(), held);
  }
}

TEST_F(StateTest, OfAnotherLengthIsRefused) {
  Packer packer;
  StateWriter writer(device_, packer);
  std::int64_t longer = 1;
  writer.value("number", longer);
  const std::vector<std::byte> held = std::move(packer).bytes();
  Unpacker unpacker(held);
  StateReader reader(device_, unpacker);
  EXPECT_THAT([&] { reader.value("number", number_); },
              ThrowsMessage<UsageError>("the checkpoint holds 8 bytes of 'number', but here it has 4 bytes; go on with "
                                        "the program and the settings that wrote it"));
}

}  // namespace
}  // namespace trigram
