// Reads plain and gzip files through zlib.
#include "experiments/workloads/data/read_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/quoted.hpp"
#include "core/units.hpp"

namespace trigram {
namespace {

std::mutex mutex;
std::set<std::string> paths;

void note(const std::string& path) {
  const std::lock_guard lock(mutex);
  paths.insert(path);
}

}  // namespace

std::set<std::string> files_read() {
  const std::lock_guard lock(mutex);
  return paths;
}

namespace {

/// What a file may unpack to: data of any size that are stored plainly, and far more than they take where they are
/// packed, but no end of zeros.
double most_unpacked(double packed, double most) {
  constexpr double always = 64 << 20, ratio = 16;
  return std::min(most, std::max(always, ratio * packed));
}

}  // namespace

std::string read_file(const std::string& path, double most) {
  note(path);
  std::error_code missing;
  require(!std::filesystem::exists(path, missing) || std::filesystem::is_regular_file(path, missing), shown(path),
          ": is no regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, missing);
  const double packed = missing ? 0 : static_cast<double>(size);
  require(
      packed <= most, shown(path), ": has ", [&] { return format_quantity(packed, Unit::bytes); },
      "; a file of this kind has at most ", [&] { return format_quantity(most, Unit::bytes); });
  require_memory(packed, shown(path));
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  require(file != nullptr, shown(path), ": cannot be opened: ", std::strerror(errno));
  std::string bytes;
  std::array<char, 1 << 16> chunk{};
  int got = 0;
  while ((got = gzread(file.get(), chunk.data(), chunk.size())) > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    require(
        static_cast<double>(bytes.size()) <= most_unpacked(packed, most), shown(path), ": unpacks to more than ",
        [&] { return format_quantity(most_unpacked(packed, most), Unit::bytes); }, ", and is stored in ",
        [&] { return format_quantity(packed, Unit::bytes); }, "; unpack it if it is whole");
  }
  int code = Z_OK;
  const char* reason = gzerror(file.get(), &code);
  // A cut stream ends like a whole one and only shows in the code.
  require(got == 0 && code == Z_OK, shown(path), ": cannot be read after ", bytes.size(),
          " bytes: ", code == Z_ERRNO ? std::strerror(errno) : reason, "; is the file whole?");
  return bytes;
}

}  // namespace trigram
