// Progress on standard error: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace trigram {

/// Shows how many of `total` are done. A total of 0 shows nothing.
class ProgressBar {
 public:
  ProgressBar(std::int64_t total, std::string unit);
  void show(std::int64_t done);
  /// Ends the bar's line.
  void finish();

 private:
  std::int64_t total_;
  std::string unit_;
  bool terminal_;
  std::int64_t shown_tenth_ = -1;
  bool open_ = false;
};

}  // namespace trigram
