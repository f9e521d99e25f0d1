#include "experiments/study/runs/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/record/run_record.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr const char* unfinished = ".making";

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::string& reason) {
  throw UsageError("cannot " + what + " " + in_quotes(path.native()) + ": " + reason);
}

/// "HOST-", by which folders of this host's processes begin.
std::string host_prefix() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::string(host.data()) + "-";
}

std::string unused_name() {
  constexpr const char* digits = "0123456789abcdef";
  constexpr int count = 16;
  std::random_device random;
  std::string name = host_prefix();
  for (int i = 0; i < count; ++i) name += digits[random() % 16];
  return name;
}

/// A new folder in `parent`, which whoever finishes last may remove at the same time.
fs::path new_folder(const fs::path& parent) {
  constexpr int attempts = 100;
  std::error_code error;
  for (int i = 0; i < attempts; ++i) {
    fs::create_directories(parent, error);
    if (error) break;
    const fs::path path = parent / unused_name();
    if (fs::create_directory(path, error)) return path;
  }
  fail("make a folder in", parent, error.message());
}

/// log.txt with the lock that says that its run is being made; -1 where it was taken for a leftover.
int locked_log(const fs::path& folder) {
  const fs::path path = folder / "log.txt";
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (log < 0 && errno != ENOENT) fail("write", path, std::strerror(errno));
  if (log < 0) return -1;
  const bool others = ::flock(log, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;  // else it is ours, or has no locks
  struct stat file {};
  if (!others && ::fstat(log, &file) == 0 && file.st_nlink > 0) return log;
  ::close(log);
  return -1;
}

bool is_abandoned(const fs::path& folder) {
  const int log = ::open((folder / "log.txt").c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (log < 0) return false;  // it begins to be made
  const bool nobodys = ::flock(log, LOCK_EX | LOCK_NB) == 0;
  ::close(log);
  return nobodys;
}

}  // namespace

RunFolder::RunFolder(fs::path place, std::string identity) : place_(std::move(place)), identity_(std::move(identity)) {
  const fs::path runs = place_.parent_path();
  std::error_code error;
  fs::create_directories(runs, error);
  if (error) fail("make the folder", runs, error.message());
  while (log_ < 0) {
    path_ = new_folder(runs.parent_path() / unfinished);
    log_ = locked_log(path_);
  }
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : place_(std::move(other.place_)),
      path_(std::exchange(other.path_, {})),
      identity_(std::move(other.identity_)),
      log_(std::exchange(other.log_, -1)) {}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (log_ >= 0) ::close(log_);
}

bool RunFolder::overtaken() const {
  FileDigests digests;
  return !read_run(place_, identity_, digests).run.is_null();
}

void RunFolder::take_place() {
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    if (::rename(path_.c_str(), place_.c_str()) == 0) {
      path_.clear();
      return;
    }
    if (errno != ENOTEMPTY && errno != EEXIST) break;
    if (overtaken()) return;
    // What lies there is of a run that failed, or of files that have changed since.
    const fs::path aside = path_.parent_path() / unused_name();
    if (::rename(place_.c_str(), aside.c_str()) != 0) continue;
    std::error_code ignored;
    fs::remove_all(aside, ignored);
  }
  if (!overtaken()) fail("make the folder", place_, std::strerror(errno));
}

void remove_abandoned_runs(const fs::path& study) {
  const fs::path folder = study / unfinished;
  const std::string ours = host_prefix();
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with(ours) && is_abandoned(entry->path()))
      fs::remove_all(entry->path(), ignored);
  }
  fs::remove(folder, error);  // where it is empty
}

void remove_unfinished_runs(const fs::path& study) {
  std::error_code ignored;
  fs::remove_all(study / unfinished, ignored);
}

}  // namespace trigram
