#include "backends/gpu/host/file_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/error.hpp"

namespace trigram::gpu {

namespace fs = std::filesystem;

namespace {

/// A file's name of any text.
std::string plain(std::string text) {
  for (char& character : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '-' || character == '_';
    if (!fits) character = '_';
  }
  return text;
}

/// How long others may take to read why a job failed before its files go.
constexpr std::chrono::milliseconds farewell{1500};

/// Of this process, so that no two have one name.
std::atomic<std::int64_t> drafts{0};

}  // namespace

FileStore::FileStore(fs::path folder, const std::string& job)
    : folder_(std::move(folder)), job_(job), prefix_(plain(job) + ".") {
  std::error_code error;
  fs::create_directories(folder_, error);
  require(fs::is_directory(folder_),
          "the ranks cannot meet in '" + folder_.string() + "': it is no folder and cannot be made" +
              (error ? " (" + error.message() + ")" : "") + "; name one that all processes see and may write");
}

fs::path FileStore::path_of(const std::string& key) const { return folder_ / (prefix_ + plain(key)); }

void FileStore::put(const std::string& key, const Bytes& value) {
  const fs::path target = path_of(key);
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
  const std::string sign = path_of(key).string() + ".claimed";
  const int file = open(sign.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) throw BackendError("cannot create '" + sign + "': " + std::strerror(errno));
  ::close(file);
  put(key, value);
  return true;
}

std::optional<Bytes> FileStore::get(const std::string& key) {
  std::ifstream file(path_of(key), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes_of(text);
}

void FileStore::erase(const std::string& key) {
  std::error_code ignored;
  fs::remove(path_of(key), ignored);
}

std::unique_ptr<Store> FileStore::another() { return std::make_unique<FileStore>(folder_, job_); }

void FileStore::close(bool failed) {
  if (failed) std::this_thread::sleep_for(farewell);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    if (entry.path().filename().string().starts_with(prefix_)) fs::remove(entry.path(), ignored);
  }
  fs::remove(folder_, ignored);
}

std::string FileStore::hint() const {
  return "if no job is using '" + folder_.string() +
         "', its files are left from one that was killed: remove the folder";
}

}  // namespace trigram::gpu
