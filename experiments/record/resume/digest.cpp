#include "experiments/record/resume/digest.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace trigram {
namespace {

constexpr std::uint64_t start = 14695981039346656037ULL;

std::uint64_t continued(std::uint64_t value, std::string_view text) {
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return value;
}

std::string hexadecimal(std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value /= digits.size())
    *digit = digits[value % digits.size()];
  return text;
}

}  // namespace

std::string digest(const std::string& text) { return hexadecimal(continued(start, text)); }

std::string file_digest(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1 << 16> piece{};
  std::uint64_t value = start;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    value = continued(value, {piece.data(), static_cast<std::size_t>(file.gcount())});
  return file.is_open() && !file.bad() ? hexadecimal(value) : "";
}

const std::string& program_digest() {
  static const std::string digest = file_digest("/proc/self/exe");
  return digest;
}

}  // namespace trigram
