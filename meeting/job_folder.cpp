#include "meeting/job_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "meeting/secret.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t token_bytes = 16;
constexpr std::size_t token_digits = 2 * token_bytes;
constexpr mode_t private_file = S_IRUSR | S_IWUSR;

/// A file's name of any text, different for different texts.
std::string plain(const std::string& text) {
  constexpr const char* digits = "0123456789abcdef";
  constexpr unsigned base = 16;
  std::string name;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (std::isalnum(code) != 0 || character == '-') {
      name += character;
    } else {
      name += {'_', digits[code / base], digits[code % base]};
    }
  }
  return name;
}

/// Whether this name begins as those of one of our starts.
bool has_token(const std::string& name) {
  return name.size() > token_digits && name[token_digits] == '.' &&
         name.find_first_not_of("0123456789abcdef") == token_digits;
}

void close_file(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& reason) {
  throw UsageError("the ranks cannot meet in " + in_quotes(folder.string()) + ": " + reason +
                   "; name a folder that all processes see and may write");
}

}  // namespace

JobFolder::JobFolder(const fs::path& parent, const Member& member, double seconds)
    : parent_(parent), folder_(parent / ("trigram-" + plain(member.job))) {
  if (member.rank == 0) {
    make(member.job);
  } else {
    wait_for_rank_0(member.rank, seconds);
  }
}

JobFolder::~JobFolder() {
  close_file(start_);
  close_file(lock_);
}

fs::path JobFolder::file_of(const std::string& key) const { return folder_ / (token_ + "." + plain(key)); }

void JobFolder::make(const std::string& job) {
  constexpr int tries = 1000;  // a job of this name may be ending, or one that takes the parent with it
  for (int i = 0; i < tries; ++i) {
    make_parent();
    if (mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      if (errno == ENOENT) continue;
      refuse(folder_, std::strerror(errno));
    }
    check_owner();
    if (lock(job)) return start();
  }
  refuse(folder_, "it comes and goes");
}

void JobFolder::make_parent() {
  std::error_code error;
  made_parent_ = fs::create_directories(parent_, error) || made_parent_;
  if (fs::is_directory(parent_) || (!error && !fs::exists(parent_))) return;
  refuse(parent_, "it is no folder and cannot be made" + (error ? " (" + error.message() + ")" : std::string()));
}

/// Somebody else's folder is none for us, even if it lets us in.
void JobFolder::check_owner() const {
  struct stat facts {};
  if (lstat(folder_.c_str(), &facts) != 0) return;
  if (!S_ISDIR(facts.st_mode)) refuse(folder_, "it is no folder");
  constexpr uid_t nobody = 65534;  // what a file server makes of root
  if (facts.st_uid != geteuid() && !(geteuid() == 0 && facts.st_uid == nobody))
    refuse(folder_, "it is somebody else's");
}

/// False if the folder went away meanwhile, with the job that had it.
bool JobFolder::lock(const std::string& job) {
  const fs::path file = folder_ / "lock";
  lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, private_file);
  if (lock_ < 0 && errno == ENOENT) return false;
  if (lock_ < 0) refuse(folder_, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    close_file(lock_);
    if (reason != EWOULDBLOCK) refuse(folder_, std::string("its file system has no locks: ") + std::strerror(reason));
    throw UsageError("a job with the name " + in_quotes(job) + " is running in " + in_quotes(parent_.string()) +
                     "; give this one a name of its own by TRIGRAM_JOB, or another folder");
  }
  struct stat here {
  }, there{};
  if (fstat(lock_, &here) == 0 && stat(file.c_str(), &there) == 0 && here.st_ino == there.st_ino) return true;
  close_file(lock_);
  return false;
}

/// The token is in a file that is locked before anybody can see it: where nobody has the lock, its process is dead.
void JobFolder::start() {
  remove_files("");
  token_ = random_digits(token_bytes);
  const fs::path draft = file_of("start");
  start_ = open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, private_file);
  const bool whole = start_ >= 0 && flock(start_, LOCK_EX | LOCK_NB) == 0 &&
                     write(start_, token_.data(), token_.size()) == static_cast<ssize_t>(token_.size()) &&
                     rename(draft.c_str(), (folder_ / "start").c_str()) == 0;
  if (!whole) refuse(folder_, std::strerror(errno));
}

bool JobFolder::found() {
  int file = open((folder_ / "start").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  check_owner();
  std::array<char, token_digits> text{};
  const bool alive = flock(file, LOCK_SH | LOCK_NB) != 0;
  const bool whole = read(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close_file(file);
  if (alive && whole) token_.assign(text.data(), text.size());
  return alive && whole;
}

void JobFolder::wait_for_rank_0(int rank, double seconds) {
  using Steady = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause{20};
  const Steady::time_point begin = Steady::now();
  while (!found()) {
    if (seconds > 0 && Steady::now() - begin > std::chrono::duration<double>(seconds)) {
      throw BackendError("rank " + std::to_string(rank) + " has waited " +
                         std::to_string(static_cast<int>(std::lround(seconds))) +
                         " s at file:" + printable(parent_.string()) +
                         " for rank 0, which did not come; is it started, with the same name of the job ('" +
                         folder_.filename().string() + "'), and does it see this folder?");
    }
    std::this_thread::sleep_for(pause);
  }
}

/// Of the start whose token this is; of all starts if it is empty, which is for whoever has the lock.
void JobFolder::remove_files(const std::string& token) const {
  std::error_code ignored;
  std::vector<fs::path> ours;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (has_token(name) && name.starts_with(token)) ours.push_back(entry.path());
  }
  for (const fs::path& file : ours) fs::remove(file, ignored);
}

void JobFolder::remove() {
  if (lock_ < 0) return;
  std::error_code ignored;
  remove_files(token_);
  fs::remove(folder_ / "start", ignored);
  fs::remove(folder_ / "lock", ignored);
  close_file(start_);
  close_file(lock_);
  rmdir(folder_.c_str());
  if (made_parent_) rmdir(parent_.c_str());
}

}  // namespace trigram
