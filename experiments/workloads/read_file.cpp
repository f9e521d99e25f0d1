// Reads plain and gzip files through zlib.
#include "experiments/workloads/read_file.hpp"

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>

#include "core/error.hpp"

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

std::string read_file(const std::string& path) {
  note(path);
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  require(file != nullptr, path + ": cannot be opened: " + std::strerror(errno));
  std::string bytes;
  std::array<char, 1 << 16> chunk{};
  int got = 0;
  while ((got = gzread(file.get(), chunk.data(), chunk.size())) > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
  int code = Z_OK;
  const char* reason = gzerror(file.get(), &code);
  // A cut stream ends like a whole one and only shows in the code.
  require(got == 0 && code == Z_OK, path + ": cannot be read after " + std::to_string(bytes.size()) + " bytes: " +
                                        (code == Z_ERRNO ? std::strerror(errno) : reason) + "; is the file whole?");
  return bytes;
}

}  // namespace trigram
