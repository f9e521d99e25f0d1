// Small values under names that all processes of a job see.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/world/bytes.hpp"

namespace trigram {

/// Where processes leave values for each other. Any thread may call. Every call throws BackendError when the store is
/// out of reach: a full disk, or a server that has gone.
class Store {
 public:
  virtual ~Store() = default;
  /// Writes, or writes over.
  virtual void put(const std::string& key, const Bytes& value) = 0;
  /// Writes unless somebody has claimed this key before; says whether this was the first.
  virtual bool claim(const std::string& key, const Bytes& value) = 0;
  virtual std::optional<Bytes> get(const std::string& key) = 0;
  virtual void erase(const std::string& key) = 0;
  /// The same store for another thread, which then waits for nobody else's requests; it never closes the store.
  virtual std::unique_ptr<Store> another() = 0;
  /// Rank 0, last: nobody needs the store any more. A failed job's store stays readable for a moment first, so that all
  /// learn why.
  virtual void close(bool failed) = 0;
  /// "file:/shared/job", "tcp:node0:29501".
  virtual std::string place() const = 0;
  /// What else could be the reason when processes do not find each other, as a sentence; may be empty.
  virtual std::string hint() const { return {}; }
};

}  // namespace trigram
