// How far off predictions on a cluster are known to be, as its calibration found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace trigram {

/// What takes most of the time that is predicted.
enum class Regime : std::uint8_t {
  compute,   ///< communication is exposed for less than half of the iteration
  latency,   ///< else, and the link that carries most could carry it in less than half of the time
  bandwidth  ///< else
};
const char* name_of(Regime regime);

/// The error of measurements that a calibration had not seen: root of the mean square of |predicted / measured − 1|.
struct ErrorBar {
  double error = 0;
  int rows = 0;  ///< measurements behind it
};

/// Of a whole calibration and by regime, as a cluster file has them: "all/12/9% bandwidth/8/6% latency/4/12%".
class ErrorBars {
 public:
  /// The key of a cluster file.
  static constexpr const char* key = "calibration_error";

  ErrorBars() = default;
  /// Throws UsageError naming the entry that is malformed; an empty text has no bars.
  explicit ErrorBars(const std::string& text);

  void add(ErrorBar of_all) { all_ = of_all; }
  void add(Regime regime, ErrorBar bar) { of_[regime] = bar; }
  std::string text() const;
  /// That of the regime, or of all where it was measured fewer than three times; nothing where nothing is known.
  std::optional<ErrorBar> of(Regime regime) const;

 private:
  std::optional<ErrorBar> all_;
  std::map<Regime, ErrorBar> of_;
};

}  // namespace trigram
