#include "experiments/record/report_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// What a file is that a result may not replace; empty for a regular file and where there is nothing.
std::string unfit(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at cannot be opened either, and that says why
  switch (fs::symlink_status(path, ignored).type()) {
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::symlink:
      return "a symbolic link";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    default:
      return "";
  }
}

/// Files that are not whole yet begin with it.
constexpr const char* unfinished = ".part-";

/// A name that nobody else uses: whoever has it made it.
std::string unused_name(const fs::path& folder) {
  constexpr const char* digits = "0123456789abcdef";
  constexpr int count = 16;
  std::random_device random;
  std::string name = unfinished;
  for (int i = 0; i < count; ++i) name += digits[random() % 16];
  return (folder / name).string();
}

/// A file system that cannot sync a folder has synced it.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// Takes the lock that says that somebody still writes this file, and that it was not taken for a leftover before.
/// Where there are no locks, nobody removes leftovers.
bool claim(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat file {};
  return ::fstat(descriptor, &file) == 0 && file.st_nlink > 0;
}

/// Removes files that nobody writes any more: those who did were killed.
void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(unfinished)) continue;
    const int descriptor = ::open(entry->path().c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
    ::close(descriptor);
  }
}

}  // namespace

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

NewFile::NewFile(fs::path path) : path_(std::move(path)) {
  std::error_code unusable;  // a name that is too long, which a temporary file beside it would not show
  if (fs::symlink_status(path_, unusable).type() == fs::file_type::none) fail(unusable.message());
  const std::string kind = unfit(path_);
  if (!kind.empty()) fail("it is " + kind + "; only a regular file is replaced");
  open();
}

void NewFile::open() {
  constexpr int attempts = 100;
  for (int i = 0; i < attempts && descriptor_ < 0; ++i) {
    temporary_ = unused_name(folder_of(path_));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
    if (descriptor_ >= 0 && !claim(descriptor_)) ::close(std::exchange(descriptor_, -1));
  }
  if (descriptor_ < 0) fail(std::strerror(std::exchange(errno, 0)));
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void NewFile::keep() {
  if (::fsync(descriptor_) != 0) fail(std::strerror(errno));
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(std::strerror(errno));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(std::strerror(errno));
  temporary_.clear();
  sync_folder(folder_of(path_));
}

void NewFile::fail(const std::string& reason) const {
  throw UsageError("cannot write " + in_quotes(path_.native()) + ": " + reason);
}

void write_file(const fs::path& path, std::string_view text) {
  NewFile file(path);
  file.write(text);
  file.keep();
}

void require_writable_file(const fs::path& path) { NewFile(path).write("a full disk fails here\n"); }

ResultFolder::Made::~Made() {
  std::error_code not_empty;
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) fs::remove(*folder, not_empty);
}

ResultFolder::ResultFolder(const fs::path& path, const std::vector<std::string>& files) {
  std::error_code error;
  std::vector<fs::path> missing;  // the folder first
  for (fs::path at = path; fs::symlink_status(at, error).type() == fs::file_type::not_found && !at.empty();
       at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (fs::create_directory(*at, error)) made_.folders.push_back(*at);
    if (error) throw UsageError("cannot make the folder " + in_quotes(at->native()) + ": " + error.message());
  }
  const bool there = fs::is_directory(path, error);
  if (!there)
    throw UsageError("cannot write into " + in_quotes(path.native()) + ": " +
                     (error ? error.message() : "it is no folder"));
  remove_leftovers(path);
  for (const std::string& file : files) require_writable_file(path / file);
}

}  // namespace trigram
