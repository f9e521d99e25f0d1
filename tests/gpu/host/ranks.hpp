// Ranks of a rendezvous as threads of one process, and folders and ports to meet at.
#pragma once

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/values/error.hpp"
#include "core/world/bytes.hpp"
#include "meeting/listener.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram::gpu {

/// A folder that does not exist yet, removed at the end.
class MeetingPlace {
 public:
  MeetingPlace() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("trigram-test-" + std::to_string(getpid()) + "-" + std::to_string(made++));
  }
  ~MeetingPlace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string file() const { return "file:" + path_.string(); }
  /// A port that nobody uses just now.
  static std::string tcp() { return "tcp:127.0.0.1:" + std::to_string(Listener("127.0.0.1", 0).port()); }

 private:
  std::filesystem::path path_;
};

inline Member member_named(int rank, int ranks, const std::string& job = "job") {
  Member member;
  member.rank = rank;
  member.ranks = ranks;
  member.job = job;
  member.secret = "a secret of the tests";
  return member;
}

/// What `body` threw on each of so many threads; empty where it did not.
inline std::vector<std::string> errors_of(int threads, const std::function<void(int)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      try {
        body(i);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(i)] = error.what();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  return errors;
}

/// Of two jobs of two ranks that meet in one place under these names: none, where each has its own bytes only.
inline std::vector<std::string> errors_of_two_jobs(const MeetingPlace& place, const std::string& one,
                                                   const std::string& other) {
  return errors_of(4, [&](int index) {
    const std::string job = index < 2 ? one : other;
    const auto meeting = meet(place.file(), member_named(index % 2, 2, job), {20});
    ensure(text_of(meeting->all_gather(bytes_of(job), {20}).front()) == job, "the other job's bytes");
    meeting->leave();
  });
}

}  // namespace trigram::gpu
