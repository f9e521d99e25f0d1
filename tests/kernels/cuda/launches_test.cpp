// How many kernels an exchange launches, which the double counts.
#include <gtest/gtest.h>

#include "tests/kernels/test_device.hpp"
#include "tests/support/cuda_on_host/control.hpp"

namespace trigram {
namespace {

struct Launches {
  std::int64_t encode, decode, decode_add;
  bool operator==(const Launches&) const = default;
};

/// To encode and decode so many chunks of a vector.
Launches launches_for(const std::string& spec, int chunks) {
  TestDevice device;
  const auto codec = device.make_codec(spec);
  const OwnedBuffer vector = device.hold(random_vector(10007, 3));
  std::vector<OwnedBuffer> frames;
  std::vector<CodecPart> parts;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const Buffer part = vector.view().chunk(chunk, chunks);
    frames.push_back(device.allocate(codec->encoded_shape(part.shape())));
    parts.push_back({part, frames.back(), {.chunk = chunk}});
  }
  const auto counted = [before = cuda_on_host::launches()]() mutable {
    const std::int64_t now = cuda_on_host::launches();
    return now - std::exchange(before, now);
  };
  Launches all{};
  auto count = counted;
  codec->encode_all(device, parts);
  all.encode = count();
  codec->decode_all(device, parts);
  all.decode = count();
  codec->decode_add_all(device, parts, 1.0F);
  all.decode_add = count();
  return all;
}

class LaunchesOfAScatterReduce : public ::testing::TestWithParam<std::string> {};

TEST_P(LaunchesOfAScatterReduce, DoNotGrowWithItsRanks) {
  const Launches one = launches_for(GetParam(), 1);
  EXPECT_LE(one.encode, 2);
  EXPECT_EQ(one.decode, 1);
  EXPECT_EQ(one.decode_add, 1);
  for (const int ranks : {2, 8, 30}) EXPECT_EQ(launches_for(GetParam(), ranks), one) << ranks << " ranks";
}

INSTANTIATE_TEST_SUITE_P(Codecs, LaunchesOfAScatterReduce,
                         ::testing::Values("minmax_uint8", "qsgd", "qsgd:norm=max", "one_bit", "fp16", "bf16"));

}  // namespace
}  // namespace trigram
