#include "processes/last_resort.hpp"

#include <unistd.h>

namespace trigram {

void write_line(const std::string& text) {
  const std::string line = text + "\n";
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

LastResort::LastResort() : thread_([this] { wait(); }) {}

LastResort::~LastResort() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LastResort::expect_within(double seconds, const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    deadline_ = std::chrono::steady_clock::now() +
                std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
    text_ = text;
  }
  changed_.notify_all();
}

void LastResort::rest() {
  {
    const std::lock_guard lock(mutex_);
    deadline_.reset();
  }
  changed_.notify_all();
}

void LastResort::wait() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < *deadline_) {
      changed_.wait_until(lock, *deadline_);
    } else {
      write_line("trigram: " + text_);
      _exit(1);
    }
  }
}

}  // namespace trigram
