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

#include "core/values/error.hpp"
#include "core/values/memory.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

std::mutex mutex;
std::set<std::string> paths;

void note(const std::string& path) {
  const std::lock_guard lock(mutex);
  paths.insert(path);
}

/// What a file may unpack to: data of any size that are stored plainly, and far more than they take where they are
/// packed, but no end of zeros.
double most_unpacked(double packed) {
  constexpr double always = 64 << 20, ratio = 16;
  return std::max(always, ratio * packed);
}

/// 0 for what has no size.
double stored_bytes(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  return failed ? 0 : static_cast<double>(size);
}

}  // namespace

std::set<std::string> files_read() {
  const std::lock_guard lock(mutex);
  return paths;
}

std::string read_begin(const std::string& path, double count) {
  std::error_code missing;
  require(!std::filesystem::exists(path, missing) || std::filesystem::is_regular_file(path, missing), shown(path),
          ": is no regular file");
  note(path);
  const double packed = stored_bytes(path), most = most_unpacked(packed);
  require_memory(std::min(packed, count), shown(path));
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  require(file != nullptr, shown(path), ": cannot be opened: ", std::strerror(errno));
  std::string bytes;
  std::array<char, 1 << 16> chunk{};
  const auto wanted = [&] { return std::min<double>(chunk.size(), count - static_cast<double>(bytes.size())); };
  int got = 0;
  while (wanted() > 0 && (got = gzread(file.get(), chunk.data(), static_cast<unsigned>(wanted()))) > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    require(
        static_cast<double>(bytes.size()) <= most, shown(path), ": unpacks to more than ",
        [&] { return format_quantity(most, Unit::bytes); }, ", and is stored in ",
        [&] { return format_quantity(packed, Unit::bytes); }, "; unpack it if it is whole");
  }
  int code = Z_OK;
  const char* reason = gzerror(file.get(), &code);
  // A cut stream ends like a whole one and only shows in the code.
  require(got >= 0 && code == Z_OK, shown(path), ": cannot be read after ", bytes.size(),
          " bytes: ", code == Z_ERRNO ? std::strerror(errno) : reason, "; is the file whole?");
  return bytes;
}

std::string read_file(const std::string& path, double most) {
  const auto text_of = [](double bytes) { return [bytes] { return format_quantity(bytes, Unit::bytes); }; };
  const double packed = stored_bytes(path);
  require(packed <= most, shown(path), ": has ", text_of(packed), "; a file of this kind has at most ", text_of(most));
  std::string bytes = read_begin(path, most + 1);
  require(static_cast<double>(bytes.size()) <= most, shown(path), ": unpacks to more than ", text_of(most),
          ", the most that a file of this kind has");
  return bytes;
}

}  // namespace trigram
