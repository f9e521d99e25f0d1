// The trace of a run, one event a line.
#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/record/report.hpp"

namespace trigram {
namespace {

std::string text_of(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

/// Events, gathered to pieces that are worth a write.
class Events {
 public:
  explicit Events(const std::function<void(std::string_view)>& write) : write_(write) {
    piece_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  }

  void name(const char* what, int rank, int lane, const std::string& name) {
    add("{\"name\":\"" + std::string(what) + "\",\"ph\":\"M\"" + place(rank, lane) +
        ",\"args\":{\"name\":" + quoted(name) + "}}");
  }

  void span(int rank, const LaneSpan& span) {
    constexpr double microseconds = 1e6;
    add("{\"name\":" + quoted(span.name) + ",\"cat\":\"" + name_of(span.activity) + "\",\"ph\":\"X\"" +
        place(rank, span.lane) + ",\"ts\":" + text_of(span.begin * microseconds) +
        ",\"dur\":" + text_of((span.end - span.begin) * microseconds) +
        ",\"args\":{\"bytes\":" + std::to_string(span.bytes) + call_text(span.call) + "}}");
  }

  void finish() {
    piece_ += "\n]}\n";
    write_(piece_);
  }

 private:
  static std::string place(int rank, int lane) {
    return ",\"pid\":" + std::to_string(rank) + ",\"tid\":" + std::to_string(lane);
  }

  /// Of which collective of its lane the span is a part.
  std::string call_text(const SpannedCall& call) {
    if (call.number == 0) return "";
    return ",\"call\":" + std::to_string(call.number) + ",\"size\":" + std::to_string(call.size) +
           ",\"ranks\":" + quoted(call.ranks);
  }

  /// Few names stand for all spans.
  const std::string& quoted(std::string_view name) {
    const auto found = quoted_.find(name);
    if (found != quoted_.end()) return found->second;
    return quoted_.emplace(name, nlohmann::json(std::string(name)).dump()).first->second;
  }

  void add(const std::string& event) {
    constexpr std::size_t enough = 1 << 20;
    piece_ += first_ ? "\n" : ",\n";
    piece_ += event;
    first_ = false;
    if (piece_.size() < enough) return;
    write_(piece_);
    piece_.clear();
  }

  const std::function<void(std::string_view)>& write_;
  std::string piece_;
  bool first_ = true;
  std::map<std::string, std::string, std::less<>> quoted_;
};

}  // namespace

void write_trace(const std::vector<RankReport>& ranks, const LaneLayout& layout,
                 const std::function<void(std::string_view)>& write) {
  Events events(write);
  for (const RankReport& report : ranks) {
    int lanes = 1;
    for (const LaneSpan& span : report.spans) lanes = std::max(lanes, span.lane + 1);
    events.name("process_name", report.rank, 0, "rank " + std::to_string(report.rank));
    for (int lane = 0; lane < lanes; ++lane) events.name("thread_name", report.rank, lane, layout.name_of(lane));
    for (const LaneSpan& span : report.spans) events.span(report.rank, span);
  }
  events.finish();
}

}  // namespace trigram
