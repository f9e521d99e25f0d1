// Parses IDX files of bytes.
#include "experiments/workloads/data/idx.hpp"

#include "core/values/error.hpp"
#include "experiments/workloads/data/read_file.hpp"

namespace trigram {
namespace {

constexpr std::size_t magic_bytes = 4;
constexpr std::int64_t most_values = std::int64_t{1} << 36;

std::int64_t big_endian(const std::string& bytes, std::size_t offset) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[offset + i]);
  return value;
}

void check_magic(const std::string& path, const std::string& bytes, int dimensions) {
  require(bytes.size() >= magic_bytes,
          path + ": ends at byte " + std::to_string(bytes.size()) + ", inside the magic number of an IDX file");
  require(bytes[0] == 0 && bytes[1] == 0, path + ": byte 0: an IDX file begins with two zero bytes");
  require(bytes[2] == 0x08, path + ": byte 2: element type " + std::to_string(static_cast<std::uint8_t>(bytes[2])) +
                                "; only 8, unsigned bytes, is read");
  require(bytes[3] == dimensions, path + ": byte 3: " + std::to_string(static_cast<std::uint8_t>(bytes[3])) +
                                      " dimensions where " + std::to_string(dimensions) + " are needed");
}

}  // namespace

IdxArray read_idx(const std::string& path, int dimensions) {
  const std::size_t header = magic_bytes + 4 * static_cast<std::size_t>(dimensions);
  const std::string begin = read_begin(path, static_cast<double>(header));
  check_magic(path, begin, dimensions);
  require(begin.size() == header, path + ": ends at byte " + std::to_string(begin.size()) + ", inside its sizes");
  IdxArray array;
  std::int64_t values = 1;
  for (std::size_t offset = magic_bytes; offset < header; offset += 4) {
    array.sizes.push_back(big_endian(begin, offset));
    require(
        array.sizes.back() > 0 && array.sizes.back() <= most_values / values,
        path + ": byte " + std::to_string(offset) + ": a size of " + std::to_string(array.sizes.back()) + " cannot be");
    values *= array.sizes.back();
  }
  const std::size_t whole = header + static_cast<std::size_t>(values);
  const std::string bytes = read_begin(path, static_cast<double>(whole + 1));
  require(bytes.size() == whole, path + ": has " + (bytes.size() > whole ? "more" : std::to_string(bytes.size())) +
                                     " bytes where its sizes ask for " + std::to_string(whole));
  array.values.assign(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end());
  return array;
}

}  // namespace trigram
