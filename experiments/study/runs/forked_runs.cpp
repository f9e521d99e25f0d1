#include "experiments/study/runs/forked_runs.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <deque>
#include <iostream>
#include <set>

#include "core/values/error.hpp"
#include "experiments/record/progress.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/settings/files/text_file.hpp"
#include "experiments/study/runs/run_folder.hpp"
#include "processes/interruption.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr int usage_exit = 2;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// A run that a process of its own makes.
struct Running {
  RunTask task;
  RunFolder folder;
  Clock::time_point begin = Clock::now();
};

/// What the forked process does: the run, its messages in the folder, and an exit code.
[[noreturn]] void run_child(const RunTask& task, int log) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  int code = 0;
  try {
    record_run(task.config, task.identity);
  } catch (const UsageError& error) {
    std::cerr << error.what() << std::endl;
    code = usage_exit;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    code = 1;
  }
  std::cout.flush();
  ::_exit(code);
}

/// What a process that did not end well has said.
std::string message_of(const fs::path& folder, int status) {
  const std::string text = read_text(folder / "log.txt").value_or("");
  std::string message = text.substr(0, text.find_last_not_of('\n') + 1);
  if (WIFSIGNALED(status)) message = "ended by signal " + std::to_string(WTERMSIG(status));
  return message.empty() ? "it left no message; is the disk full?" : message;
}

/// The processes of one batch.
class Batch {
 public:
  Batch(std::vector<RunTask> waiting, int jobs, const std::string& phase, const ForkedRuns::TellCost& tell)
      : waiting_(std::make_move_iterator(waiting.begin()), std::make_move_iterator(waiting.end())),
        total_(waiting_.size()),
        jobs_(jobs),
        tell_(tell),
        bar_(static_cast<std::int64_t>(total_), phase) {}
  ~Batch() {
    for (const auto& [pid, one] : running_) ::kill(-pid, SIGKILL);
    for (const auto& [pid, one] : running_) ::waitpid(pid, nullptr, 0);
    bar_.finish();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Waits for all of them. Throws UsageError for a run that refuses its configuration, and Interruption.
  RunFailures finish_all() {
    const NotedInterruptions noted;
    while (!waiting_.empty() || !running_.empty()) {
      require_no_interruption();
      while (!waiting_.empty() && static_cast<int>(running_.size()) < jobs_) start();
      collect();
    }
    return std::move(failures_);
  }

 private:
  void start() {
    RunTask task = std::move(waiting_.front());
    waiting_.pop_front();
    RunFolder folder(task.config.out, task.identity);
    const fs::path place = std::exchange(task.config.out, folder.path());
    const pid_t pid = ::fork();
    if (pid == 0) run_child(task, folder.log());
    ensure(pid > 0, "cannot start another process");
    ::setpgid(pid, pid);
    task.config.out = place;
    running_.emplace(pid, Running{std::move(task), std::move(folder)});
  }

  void collect() {
    int status = 0;
    struct rusage used {};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
    if (pid <= 0) {
      constexpr unsigned pause_microseconds = 500;
      ::usleep(pause_microseconds);
      return;
    }
    const auto node = running_.extract(pid);
    judge(node.mapped(), status);
    constexpr double bytes_per_kilobyte = 1024;
    const double memory = bytes_per_kilobyte * static_cast<double>(used.ru_maxrss);
    if (tell_) tell_(node.mapped().task, {seconds_since(node.mapped().begin), memory});
    bar_.show(static_cast<std::int64_t>(total_ - waiting_.size() - running_.size()));
  }

  void judge(Running& one, int status) {
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!well && one.folder.overtaken()) return;
    const std::string message = well ? "" : message_of(one.folder.path(), status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == usage_exit) throw UsageError(one.task.place + message);
    one.folder.take_place();
    if (!well) failures_[one.task.config.out] = {message};
  }

  std::deque<RunTask> waiting_;
  std::map<pid_t, Running> running_;
  std::size_t total_;
  int jobs_;
  const ForkedRuns::TellCost& tell_;
  ProgressBar bar_;
  RunFailures failures_;
};

/// One run of each row: what the others may take is known from them.
std::vector<RunTask> samples_of(std::vector<RunTask>& waiting) {
  std::vector<RunTask> samples, others;
  std::set<std::string> rows;
  for (RunTask& task : waiting) (rows.insert(task.row).second ? samples : others).push_back(std::move(task));
  waiting = std::move(others);
  return samples;
}

std::string duration(double seconds) {
  constexpr double minute = 60;
  const bool short_one = seconds < 2 * minute;
  return std::to_string(std::lround(short_one ? seconds : seconds / minute)) + (short_one ? " s" : " min");
}

/// How often all jobs begin a run.
double rounds_of(std::size_t runs, int jobs) { return std::ceil(static_cast<double>(runs) / jobs); }

}  // namespace

RunFailures ForkedRuns::make_in_order(std::vector<RunTask> tasks, const std::string& phase) {
  return Batch(std::move(tasks), jobs_, phase, tell_).finish_all();
}

RunFailures ForkedRuns::make(std::vector<RunTask> tasks, const std::string& phase) {
  constexpr std::size_t few = 4;
  std::set<std::string> rows;
  for (const RunTask& task : tasks) rows.insert(task.row);
  RunFailures failures;
  if (tasks.size() > few * rows.size()) {
    std::cerr << "trigram: " << tasks.size() << " " << phase << ", " << jobs_ << " at a time; first one of each row"
              << std::endl;
    std::vector<RunTask> samples = samples_of(tasks);
    const auto begin = Clock::now();
    const std::size_t made = samples.size();
    failures = make_in_order(std::move(samples), phase);
    std::cerr << "trigram: the other " << tasks.size() << " " << phase << " are expected to take "
              << duration(seconds_since(begin) * rounds_of(tasks.size(), jobs_) / rounds_of(made, jobs_)) << std::endl;
  }
  failures.merge(make_in_order(std::move(tasks), phase));
  return failures;
}

}  // namespace trigram
