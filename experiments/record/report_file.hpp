// Files and folders of results: whole or absent, and nothing left behind by what was refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trigram {

/// Where a file lies: the current folder where its path names none.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// A file that takes the place of `path` in one step, when it is whole. Until then, and without `keep`, what was there
/// stays as it was. It is written under a name of its own beside `path`, in the same folder.
class NewFile {
 public:
  /// Throws UsageError naming the path and the reason: no folder, no permission, or a target that is no regular file.
  /// A symbolic link is none either: whoever wants its target replaced names that.
  explicit NewFile(std::filesystem::path path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Throws UsageError: a full disk, a limit.
  void write(std::string_view text);
  /// Whole and on the disk from here on, under its own name. Throws UsageError.
  void keep();

 private:
  [[noreturn]] void fail(const std::string& reason) const;
  void open();

  std::filesystem::path path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// A NewFile of one text.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Proves that `write_file` could write `path`, without touching what is there. Throws UsageError.
void require_writable_file(const std::filesystem::path& path);

/// A folder for results. It and its parents are made where they are missing; those that were made and are still empty
/// in the end, because what was to fill them was refused or failed, are removed again; so is what processes that were
/// killed left of files that they did not finish.
class ResultFolder {
 public:
  /// Proves that `files`, at least one, can be written in it. Throws UsageError naming the path and the reason.
  ResultFolder(const std::filesystem::path& path, const std::vector<std::string>& files);

 private:
  /// The folders that were made, parents first.
  struct Made {
    std::vector<std::filesystem::path> folders;
    Made() = default;
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    ~Made();
  };
  Made made_;
};

}  // namespace trigram
