#include "experiments/record/run_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <utility>

#include "core/lane/message_count.hpp"
#include "core/values/decimal.hpp"
#include "core/values/memory.hpp"
#include "core/values/units.hpp"
#include "processes/clock.hpp"

namespace trigram {
namespace {

constexpr double minute = 60;
constexpr double first_seconds = 5;  ///< of a run, of which nothing is said
constexpr double worth_saying = 15;  ///< seconds that a run must be expected to take
constexpr double long_run = 2 * minute;
constexpr double silence = 30;  ///< seconds without a step after which something is said

/// Bytes of this process that lie in memory.
double resident() {
  std::ifstream file("/proc/self/statm");
  double all = 0, pages = 0;
  file >> all >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::string duration(double seconds) {
  constexpr double hour = 60 * minute;
  if (seconds < long_run) return std::to_string(std::lround(seconds)) + " s";
  if (seconds < 2 * hour) return std::to_string(std::lround(seconds / minute)) + " min";
  return decimal(seconds / hour, 2) + " h";
}

std::string memory_text(double bytes) { return format_quantity(bytes, Unit::bytes); }

/// Over the bar of a terminal, which is drawn again.
void say(const std::string& text) {
  std::cerr << (::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "") + text + "\n" << std::flush;
}

double expected_seconds(const HowFar& now) {
  return now.steps > 0 ? now.seconds / now.steps * static_cast<double>(now.left) : 0;
}

}  // namespace

std::string expectation(const HowFar& now) {
  std::string text = std::to_string(now.left) + " steps will take about " + duration(expected_seconds(now));
  if (now.messages > 0 && now.steps > 0) {
    const auto messages = static_cast<double>(now.messages);
    text += ", about " + decimal(messages / now.steps, 2) + " messages each, " + decimal(messages / now.seconds, 2) +
            " simulated a second";
  }
  return text + "; " + memory_text(now.memory) + " of memory so far";
}

bool is_long(const HowFar& now) { return now.seconds >= first_seconds && expected_seconds(now) > worth_saying; }

RunWatch::RunWatch(RankRuntime& runtime, const std::atomic<std::int64_t>& done, Said said)
    : runtime_(runtime),
      done_(done),
      said_(std::move(said)),
      first_(done),
      messages_before_(message_count()),
      begin_(seconds_now()),
      in_step_(first_),
      bytes_before_(bytes_sent()),
      bytes_of_step_(said_.bytes_of(first_)),
      next_line_(silence),
      thread_([this] { watch(); }) {}

RunWatch::~RunWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void RunWatch::watch() {
  constexpr std::chrono::milliseconds pause{500};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return over_; })) look();
}

double RunWatch::bytes_sent() const {
  double bytes = 0;
  for (int lane = 0; lane < runtime_.lanes(); ++lane)
    bytes += static_cast<double>(runtime_.lane(lane).meter.total().bytes);
  return bytes;
}

/// What rank 0 has sent of what it will send in this step is how much of it is done.
HowFar RunWatch::how_far() {
  const std::int64_t done = done_;
  const double sent = bytes_sent();
  if (done != in_step_) {
    in_step_ = done;
    bytes_before_ = sent;
    bytes_of_step_ = said_.bytes_of(done);
  }
  constexpr double most = 0.99;
  const double part = bytes_of_step_ > 0 ? std::min((sent - bytes_before_) / bytes_of_step_, most) : 0;
  return {seconds_now() - begin_, static_cast<double>(done - first_) + part, said_.steps - first_,
          message_count() - messages_before_, resident()};
}

/// As ProgressBar has it where there is no terminal.
std::string RunWatch::so_far() const { return std::to_string(in_step_) + "/" + std::to_string(said_.steps) + " steps"; }

void RunWatch::look() {
  const HowFar now = how_far();
  if (now.seconds < first_seconds) return;
  warn_of_memory(now.memory);
  if (!announced_ && is_long(now)) {
    announced_ = true;
    const bool hinted = expected_seconds(now) > long_run && !said_.hint.empty();
    say(so_far() + ": " + expectation(now) + (hinted ? "; " + said_.hint : ""));
  }
  if (now.seconds < next_line_) return;
  next_line_ = now.seconds + silence;
  if (std::exchange(spoken_of_, in_step_) != in_step_) return;
  const double part = now.steps - std::floor(now.steps);
  say(so_far() +
      (part > 0 ? ", and " + std::to_string(std::lround(100 * part)) + " % of what the next one sends" : "") + "; " +
      memory_text(now.memory) + " of memory");
}

void RunWatch::warn_of_memory(double taken) {
  if (memory_warned_) return;
  constexpr double share = 0.25;
  const double left = available_memory();
  if (left > share * taken) return;
  memory_warned_ = true;
  say("trigram: memory runs out: this run has taken " + memory_text(taken) + ", and " + memory_text(left) +
      " are left; fewer ranks take less" + (said_.hint.empty() ? "" : ", and " + said_.hint));
}

}  // namespace trigram
