// How many kernels an exchange launches, which the double counts.
#include <gtest/gtest.h>

#include "ptx/runtime/control.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

struct Launches {
  std::int64_t encode, decode, decode_add;
  bool operator==(const Launches&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Launches& all) {
  return out << all.encode << " to encode, " << all.decode << " to decode, " << all.decode_add << " to decode and add";
}

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

struct Counted {
  const char* spec;
  Launches launches;
};
std::ostream& operator<<(std::ostream& out, const Counted& counted) { return out << counted.spec; }

class LaunchesOfAScatterReduce : public ::testing::TestWithParam<Counted> {};

TEST_P(LaunchesOfAScatterReduce, DoNotGrowWithItsRanks) {
  const auto& [spec, launches] = GetParam();
  for (const int ranks : {1, 2, 8, 30}) EXPECT_EQ(launches_for(spec, ranks), launches) << ranks << " ranks";
}

/// What keeps some elements writes zeros before it decodes; top_k finds its threshold in four passes of two kernels.
INSTANTIATE_TEST_SUITE_P(Codecs, LaunchesOfAScatterReduce,
                         ::testing::Values(Counted{"minmax_uint8", {2, 1, 1}}, Counted{"qsgd", {1, 1, 1}},
                                           Counted{"qsgd:norm=2", {1, 1, 1}}, Counted{"one_bit", {2, 1, 1}},
                                           Counted{"fp16", {1, 1, 1}}, Counted{"bf16", {1, 1, 1}},
                                           Counted{"modulo", {1, 1, 1}}, Counted{"sign", {1, 1, 1}},
                                           Counted{"natural", {2, 1, 1}}, Counted{"two_means", {3, 1, 1}},
                                           Counted{"random_k", {1, 2, 1}}, Counted{"top_k", {11, 2, 1}},
                                           Counted{"chunk_top_k", {1, 2, 1}}));

}  // namespace
}  // namespace trigram
