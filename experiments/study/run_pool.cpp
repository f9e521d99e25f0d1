// Forks a process a run, in a process group of its own, so that the backend's processes end with it.
#include "experiments/study/run_pool.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <iostream>
#include <map>
#include <set>

#include "core/error.hpp"
#include "experiments/record/progress.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/settings/text_file.hpp"
#include "experiments/study/study_run.hpp"
#include "processes/interruption.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;
constexpr int usage_exit = 2;

/// One run that is to be made.
struct Task {
  RunConfig config;
  std::string identity;
  std::string place;  ///< where the study asks for it, for messages
  std::string row;
};

/// Folders of runs that failed, and what each said.
using Failures = std::map<fs::path, std::string>;

/// What the forked process does: the run, its messages in the folder, and an exit code.
[[noreturn]] void run_child(const Task& task, int log) {
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

/// The processes of one batch.
class Batch {
 public:
  Batch(std::map<fs::path, Task> waiting, int jobs, const std::string& phase)
      : waiting_(std::move(waiting)),
        total_(waiting_.size()),
        jobs_(jobs),
        bar_(static_cast<std::int64_t>(total_), phase) {}
  ~Batch() {
    for (const auto& [pid, task] : running_) ::kill(-pid, SIGKILL);
    for (const auto& [pid, task] : running_) ::waitpid(pid, nullptr, 0);
    bar_.finish();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Waits for all of them. Throws UsageError for a run that refuses its configuration, and Interruption.
  Failures finish_all() {
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
    const auto node = waiting_.extract(waiting_.begin());
    Task& task = node.mapped();
    const int log = fresh_log(task.config.out);
    const pid_t pid = ::fork();
    if (pid == 0) run_child(task, log);
    ::close(log);
    ensure(pid > 0, "cannot start another process");
    ::setpgid(pid, pid);
    running_.emplace(pid, std::move(task));
  }

  /// Whatever was in the folder goes; the run's messages will be in log.txt.
  static int fresh_log(const fs::path& folder) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (error) throw UsageError("cannot remove '" + folder.string() + "': " + error.message());
    const ResultFolder made(folder, {"run.json"});
    const fs::path path = folder / "log.txt";
    const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (log < 0) throw UsageError("cannot write '" + path.string() + "': " + std::strerror(errno));
    return log;
  }

  void collect() {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) {
      constexpr unsigned pause_microseconds = 2000;
      ::usleep(pause_microseconds);
      return;
    }
    const auto node = running_.extract(pid);
    judge(node.mapped(), status);
    bar_.show(static_cast<std::int64_t>(total_ - waiting_.size() - running_.size()));
  }

  void judge(const Task& task, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const fs::path log = task.config.out / "log.txt";
    const std::string text = read_text(log).value_or("");
    std::string message = text.substr(0, text.find_last_not_of('\n') + 1);
    if (WIFSIGNALED(status)) message = "ended by signal " + std::to_string(WTERMSIG(status));
    if (message.empty()) message = "it left no message; is the disk full?";
    if (WIFEXITED(status) && WEXITSTATUS(status) == usage_exit) throw UsageError(task.place + message);
    failures_[task.config.out] = message;
  }

  std::map<fs::path, Task> waiting_;
  std::map<pid_t, Task> running_;
  std::size_t total_;
  int jobs_;
  ProgressBar bar_;
  Failures failures_;
};

/// One run of each row: what the others may take is known from them.
template <class Tasks>
Tasks samples_of(Tasks& waiting) {
  Tasks samples;
  std::set<std::string> rows;
  for (auto next = waiting.begin(); next != waiting.end();) {
    const auto task = next++;
    if (rows.insert(task->second.row).second) samples.insert(waiting.extract(task));
  }
  return samples;
}

std::string duration(double seconds) {
  constexpr double minute = 60;
  const bool short_one = seconds < 2 * minute;
  return std::to_string(std::lround(short_one ? seconds : seconds / minute)) + (short_one ? " s" : " min");
}

/// How often all jobs begin a run.
double rounds_of(std::size_t runs, int jobs) { return std::ceil(static_cast<double>(runs) / jobs); }

Failures make(std::map<fs::path, Task> waiting, int jobs, const std::string& phase) {
  constexpr std::size_t few = 4;
  using Clock = std::chrono::steady_clock;
  std::set<std::string> rows;
  for (const auto& [path, task] : waiting) rows.insert(task.row);
  Failures failures;
  if (waiting.size() > few * rows.size()) {
    std::cerr << "trigram: " << waiting.size() << " " << phase << ", " << jobs << " at a time; first one of each row"
              << std::endl;
    std::map<fs::path, Task> samples = samples_of(waiting);
    const auto begin = Clock::now();
    const std::size_t made = samples.size();
    failures = Batch(std::move(samples), jobs, phase).finish_all();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::cerr << "trigram: the other " << waiting.size() << " " << phase << " are expected to take "
              << duration(seconds * rounds_of(waiting.size(), jobs) / rounds_of(made, jobs)) << std::endl;
  }
  failures.merge(Batch(std::move(waiting), jobs, phase).finish_all());
  return failures;
}

}  // namespace

std::vector<StudyResult> RunPool::run(const std::vector<StudyPoint>& points, const std::string& phase) {
  std::vector<StudyResult> results;
  std::vector<std::string> identities;
  std::map<fs::path, Task> waiting;
  for (const StudyPoint& point : points) {
    const StudyRun planned(folder_, point);
    asked_.insert(planned.name);
    RecordedRun recorded = read_run(planned.config.out, planned.identity, digests_);
    if (recorded.run.is_null()) {
      const bool is_new =
          waiting.emplace(planned.config.out, Task{planned.config, planned.identity, point.place, point.row}).second;
      if (is_new && !recorded.problem.empty()) {
        std::cerr << "trigram: " << (planned.config.out / "run.json").string() << ": " << recorded.problem
                  << "; the run is made again" << std::endl;
      }
    }
    results.push_back({point, planned.name, std::move(recorded.run)});
    identities.push_back(planned.identity);
  }
  Failures failures = make(std::move(waiting), jobs_, phase);
  for (std::size_t i = 0; i < results.size(); ++i) {
    StudyResult& result = results[i];
    if (!result.run.is_null()) continue;
    const fs::path folder = folder_ / result.folder;
    if (const auto failed = failures.find(folder); failed != failures.end()) {
      result.failure = failed->second;
    } else {
      RecordedRun recorded = read_run(folder, identities[i], digests_);
      if (recorded.run.is_null())
        result.failure =
            "its run.json cannot be used: " + (recorded.problem.empty() ? "it is not there" : recorded.problem);
      result.run = std::move(recorded.run);
    }
    if (!result.failure.empty()) note_failure(result, phase);
  }
  return results;
}

void RunPool::note_failure(const StudyResult& result, const std::string& phase) {
  if (std::ranges::find(failed_, result.folder, &FailedRun::folder) != failed_.end()) return;
  failed_.push_back({result.point, phase, result.folder, result.failure, command_of(result.point)});
}

}  // namespace trigram
