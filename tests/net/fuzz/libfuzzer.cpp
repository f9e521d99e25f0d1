// libFuzzer's entrance to what is fuzzed.
#include <cstddef>

#include "tests/net/fuzz/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  trigram::tests::hear({bytes, count});
  return 0;
}
