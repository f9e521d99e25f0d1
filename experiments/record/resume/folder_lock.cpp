#include "experiments/record/resume/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/record/warnings.hpp"

namespace trigram {
namespace {

/// Who writes here, for those who want to: "a study, process 12 on host since 2024-05-01 10:00:00".
std::string signature(const std::string& user) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%F %T", &local);
  return user + ", process " + std::to_string(::getpid()) + " on " + host.data() + " since " + time.data();
}

std::string text_of(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "another process";
}

/// Whether the file that was locked still has its name: who held it before may have removed it.
bool has_name(int descriptor, const std::filesystem::path& path) {
  struct stat locked {
  }, named{};
  return ::fstat(descriptor, &locked) == 0 && ::lstat(path.c_str(), &named) == 0 && locked.st_ino == named.st_ino &&
         locked.st_dev == named.st_dev;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, const std::string& user) : path_(folder / ".lock") {
  constexpr int attempts = 200;
  constexpr unsigned pause_microseconds = 10000;
  const auto refuse = [&](const std::string& reason) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw UsageError(in_quotes(folder.native()) + " " + reason);
  };
  for (int i = 0;; ++i) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse(std::string("cannot be locked: ") + std::strerror(errno));
    const bool locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) {
      print_warnings({in_quotes(folder.native()) + " is on a file system without locks (" + std::strerror(errno) +
                      "): start nothing else that writes there"});
      break;
    }
    if (locked && has_name(descriptor_, path_)) break;
    if (i == attempts) refuse("is in use by " + text_of(descriptor_) + "; wait for it, or give another folder");
    ::close(descriptor_);
    ::usleep(pause_microseconds);
  }
  const std::string text = signature(user);
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, text.data(), text.size(), 0) < 0)
    refuse(std::string("cannot be locked: ") + std::strerror(errno));
}

FolderLock::~FolderLock() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace trigram
