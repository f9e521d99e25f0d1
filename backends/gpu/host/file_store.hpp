// A folder that all processes see, as a store.
#pragma once

#include <filesystem>

#include "backends/gpu/host/store.hpp"

namespace trigram::gpu {

/// One file a value, written beside and renamed, so that nobody reads half of it; names begin with the job's, so that
/// jobs can share a folder. Claims are files that only one process can create.
class FileStore final : public Store {
 public:
  /// Makes the folder. Throws UsageError naming it when that is impossible.
  FileStore(std::filesystem::path folder, const std::string& job);

  void put(const std::string& key, const Bytes& value) override;
  bool claim(const std::string& key, const Bytes& value) override;
  std::optional<Bytes> get(const std::string& key) override;
  void erase(const std::string& key) override;
  std::unique_ptr<Store> another() override;
  /// Removes all files of this job, and the folder if nothing else is in it.
  void close(bool failed) override;
  std::string place() const override { return "file:" + folder_.string(); }
  std::string hint() const override;

 private:
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string job_;
  std::string prefix_;
};

}  // namespace trigram::gpu
