// Progress on standard error.
#include "experiments/record/progress.hpp"

#include <unistd.h>

#include <iostream>

namespace trigram {

ProgressBar::ProgressBar(std::int64_t total, std::string unit)
    : total_(total), unit_(std::move(unit)), terminal_(::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(std::int64_t done) {
  if (total_ <= 0) return;
  constexpr std::int64_t width = 40, tenths = 10;
  const std::string count = std::to_string(done) + "/" + std::to_string(total_) + " " + unit_;
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(width * done / total_);
    std::cerr << "\r[" << std::string(filled, '#') << std::string(width - filled, '.') << "] " << count << "\033[K"
              << std::flush;
    open_ = true;
  } else if (tenths * done / total_ != shown_tenth_) {
    shown_tenth_ = tenths * done / total_;
    std::cerr << count << std::endl;
  }
}

void ProgressBar::finish() {
  if (open_) std::cerr << "\n";
  open_ = false;
}

}  // namespace trigram
