// The fuzzed conversations without libFuzzer: files that are named, else inputs drawn from a seed, the same each time.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/net/fuzz/wire.hpp"

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(words[i], std::ios::binary);
    const std::vector<std::uint8_t> input{std::istreambuf_iterator<char>(file), {}};
    trigram::tests::hear(input);
  }
  constexpr int drawn = 4000, longest = 600;
  std::mt19937 draw(31);  // NOLINT(cert-msc51-cpp)
  for (int i = 0; count == 1 && i < drawn; ++i) {
    std::vector<std::uint8_t> input(draw() % longest);
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(draw());
    trigram::tests::hear(input);
  }
  std::cout << (count > 1 ? count - 1 : drawn) << " inputs were heard\n";
}
