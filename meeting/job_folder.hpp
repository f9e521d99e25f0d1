// A folder for one start of one job, inside a folder that all processes see and others may use too.
#pragma once

#include <filesystem>
#include <string>

#include "meeting/member.hpp"

namespace trigram {

/// "DIR/trigram-JOB", for this user alone. Rank 0 makes it and holds a lock in it as long as its process lives, so that
/// a second job of the name is refused, while what a killed job left is no hindrance. The files of one start begin with
/// a token that rank 0 draws; nothing else is ever removed.
class JobFolder {
 public:
  /// Rank 0 makes the folder; the others wait for it for `seconds`; 0: forever. Throws UsageError where it cannot be,
  /// or where a job of the name is running; BackendError when rank 0 does not come.
  JobFolder(const std::filesystem::path& parent, const Member& member, double seconds);
  ~JobFolder();
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;

  /// Where a value of this start lies.
  std::filesystem::path file_of(const std::string& key) const;
  const std::filesystem::path& parent() const { return parent_; }
  /// Rank 0: removes the files of this start, and the folders that it made if nothing else is in them.
  void remove();

 private:
  void make(const std::string& job);
  bool lock(const std::string& job);
  void start();
  void wait_for_rank_0(int rank, double seconds);
  bool found();
  void make_parent();
  void check_owner() const;
  void remove_files(const std::string& token) const;

  std::filesystem::path parent_;
  std::filesystem::path folder_;
  std::string token_;
  bool made_parent_ = false;
  int lock_ = -1;   ///< of the name
  int start_ = -1;  ///< says that the token is of a living process
};

}  // namespace trigram
