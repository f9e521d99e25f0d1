// One writer of a folder of results at a time.
#pragma once

#include <filesystem>
#include <string>

namespace trigram {

/// Holds a folder for this process and those that it forks, until all of them have ended or this one lets go. The
/// lock is the kernel's, on FOLDER/.lock, so nothing that a killed process leaves is in the way. Where a file system
/// has none, a line of warning names the folder.
class FolderLock {
 public:
  /// Waits a moment for processes that are ending. Throws UsageError naming the folder and who holds it, as `user` of
  /// it: "a study".
  FolderLock(const std::filesystem::path& folder, const std::string& user);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace trigram
