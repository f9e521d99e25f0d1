// A folder that all processes see, as a store.
#pragma once

#include <memory>

#include "meeting/job_folder.hpp"
#include "meeting/store/store.hpp"

namespace trigram {

/// One file a value in the job's own folder, written beside and renamed, so that nobody reads half of it. Claims are
/// files that only one process can create.
class FileStore final : public Store {
 public:
  /// Rank 0 makes the job's folder in `folder`, the others wait for it for `seconds`; 0: forever. Throws as JobFolder.
  FileStore(const std::filesystem::path& folder, const Member& member, double seconds);

  void put(const std::string& key, const Bytes& value) override;
  bool claim(const std::string& key, const Bytes& value) override;
  std::optional<Bytes> get(const std::string& key) override;
  void erase(const std::string& key) override;
  std::unique_ptr<Store> another() override;
  void close(bool failed) override;
  std::string place() const override;

 private:
  explicit FileStore(std::shared_ptr<JobFolder> folder) : folder_(std::move(folder)) {}

  std::shared_ptr<JobFolder> folder_;
};

}  // namespace trigram
