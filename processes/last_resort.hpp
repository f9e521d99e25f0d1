// Ends the process when what should have happened in time did not.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace trigram {

/// A thread that waits for a deadline which others keep moving. When it passes, the process ends at once with exit
/// code 1, whatever its other threads hang in, after its text went to standard error.
class LastResort {
 public:
  LastResort();
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  /// The next call must come within so many seconds, or the process ends with `text`.
  void expect_within(double seconds, const std::string& text);
  /// Nothing is expected any more.
  void rest();

 private:
  void wait();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::string text_;
  bool closed_ = false;
  std::thread thread_;
};

/// Writes a line to standard error, past all buffers.
void write_line(const std::string& text);

}  // namespace trigram
