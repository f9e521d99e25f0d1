#include "meeting/store/file_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

namespace fs = std::filesystem;

namespace {

/// How long others may take to read why a job failed before its files go.
constexpr std::chrono::milliseconds farewell{1500};

/// Of this process, so that no two have one name.
std::atomic<std::int64_t> drafts{0};

}  // namespace

FileStore::FileStore(const fs::path& folder, const Member& member, double seconds)
    : folder_(std::make_shared<JobFolder>(folder, member, seconds)) {}

void FileStore::put(const std::string& key, const Bytes& value) {
  const fs::path target = folder_->file_of(key);
  fs::path draft = target;
  draft += ".draft-" + std::to_string(getpid()) + "-" + std::to_string(++drafts);
  std::ofstream file(draft, std::ios::binary);
  file.write(reinterpret_cast<const char*>(value.data()), static_cast<std::streamsize>(value.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(draft, target, error);
  if (file && !error) return;
  throw BackendError("cannot write " + std::to_string(value.size()) + " bytes to '" + target.string() + "'" +
                     (error ? ": " + error.message() : ": no space or no permission"));
}

bool FileStore::claim(const std::string& key, const Bytes& value) {
  const std::string sign = folder_->file_of(key).string() + ".claimed";
  const int file = open(sign.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) throw BackendError("cannot create '" + sign + "': " + std::strerror(errno));
  ::close(file);
  put(key, value);
  return true;
}

std::optional<Bytes> FileStore::get(const std::string& key) {
  std::ifstream file(folder_->file_of(key), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes_of(text);
}

void FileStore::erase(const std::string& key) {
  std::error_code ignored;
  fs::remove(folder_->file_of(key), ignored);
}

std::unique_ptr<Store> FileStore::another() { return std::unique_ptr<Store>(new FileStore(folder_)); }

std::string FileStore::place() const { return "file:" + printable(folder_->parent().string()); }

void FileStore::close(bool failed) {
  if (failed) std::this_thread::sleep_for(farewell);
  folder_->remove();
}

}  // namespace trigram
