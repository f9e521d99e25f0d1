// Files that are whole or absent.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "core/report.hpp"

namespace trigram {
namespace {

/// A file that disappears unless it was kept.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path)
      : path_(path),
        temporary_(path.string() + ".part" + std::to_string(::getpid())),
        descriptor_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail();
  }
  ~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!kept_) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail();
      done += static_cast<std::size_t>(count);
    }
  }

  void keep() {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    kept_ = true;
  }

 private:
  [[noreturn]] void fail() const { throw UsageError("cannot write '" + path_.string() + "': " + std::strerror(errno)); }

  std::filesystem::path path_;
  std::string temporary_;
  int descriptor_;
  bool kept_ = false;
};

}  // namespace

void write_file(const std::filesystem::path& path, const std::string& text) {
  NewFile file(path);
  file.write(text);
  file.keep();
}

void require_writable(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UsageError("cannot make the folder '" + folder.string() + "': " + error.message());
  NewFile(folder / ".writable").write("a full disk fails here\n");
}

}  // namespace trigram
