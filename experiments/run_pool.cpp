// Forks a process a run, in a process group of its own, so that the backend's processes end with it.
#include "experiments/run_pool.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "core/error.hpp"
#include "core/report.hpp"
#include "experiments/progress.hpp"
#include "experiments/run_record.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;
constexpr int usage_exit = 2;

volatile std::sig_atomic_t interrupted = 0;

/// While it lives, Ctrl-C and a request to end are noted instead of ending the process.
class NotedSignals {
 public:
  NotedSignals() {
    struct sigaction note {};
    note.sa_handler = [](int) { interrupted = 1; };
    ::sigaction(SIGINT, &note, &interrupt_);
    ::sigaction(SIGTERM, &note, &terminate_);
  }
  ~NotedSignals() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
  }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;

 private:
  struct sigaction interrupt_ {
  }, terminate_{};
};

/// FNV-1a, 64 bits, in hexadecimal.
std::string hash(const std::string& text) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  std::ostringstream hex;
  hex << std::hex << std::setw(16) << std::setfill('0') << value;
  return hex.str();
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Finished runs of this program are kept; those of another build may have other results.
const std::string& program_digest() {
  static const std::string digest = hash(read_text("/proc/self/exe"));
  return digest;
}

RunConfig config_of(const StudyPoint& point) {
  const std::string owner =
      "row '" + point.row + "'" + (point.variant.empty() ? "" : ", variant '" + point.variant + "'");
  return RunConfig(owner, resolved(point.settings, run_defaults()));
}

/// What the forked process does: the run, its messages in the folder, and an exit code.
[[noreturn]] void run_child(const RunConfig& config) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const int log = ::open((config.out / "log.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (log >= 0) {
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
  }
  int code = 0;
  try {
    record_run(config);
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
  Batch(std::map<fs::path, RunConfig> waiting, int jobs, const std::string& phase)
      : waiting_(std::move(waiting)),
        total_(waiting_.size()),
        jobs_(jobs),
        bar_(static_cast<std::int64_t>(total_), phase) {}
  ~Batch() {
    for (const auto& [pid, folder] : running_) ::kill(-pid, SIGKILL);
    for (const auto& [pid, folder] : running_) ::waitpid(pid, nullptr, 0);
    bar_.finish();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void finish_all() {
    const NotedSignals noted;
    while (!waiting_.empty() || !running_.empty()) {
      if (interrupted) throw Interrupted{};
      while (!waiting_.empty() && static_cast<int>(running_.size()) < jobs_) start();
      collect();
    }
    if (failed_ == 0) return;
    throw Error(std::to_string(failed_) + " of " + std::to_string(total_) +
                " runs failed; the first: " + first_failure_);
  }

 private:
  void start() {
    const auto next = waiting_.begin();
    fs::remove_all(next->first);
    require_writable(next->first);
    const pid_t pid = ::fork();
    ensure(pid >= 0, "cannot start another process");
    if (pid == 0) run_child(next->second);
    ::setpgid(pid, pid);
    running_[pid] = next->first;
    waiting_.erase(next);
  }

  void collect() {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) {
      constexpr unsigned pause_microseconds = 2000;
      ::usleep(pause_microseconds);
      return;
    }
    const fs::path folder = running_[pid];
    running_.erase(pid);
    judge(folder, status);
    bar_.show(static_cast<std::int64_t>(total_ - waiting_.size() - running_.size()));
  }

  void judge(const fs::path& folder, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const std::string log = read_text(folder / "log.txt");
    const std::string message = WIFEXITED(status) ? log.substr(0, log.find_last_not_of('\n') + 1)
                                                  : "ended by signal " + std::to_string(WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == usage_exit) throw UsageError(message);
    if (failed_++ == 0) first_failure_ = message + " (" + (folder / "log.txt").string() + ")";
  }

  std::map<fs::path, RunConfig> waiting_;
  std::map<pid_t, fs::path> running_;
  std::size_t total_;
  int jobs_;
  ProgressBar bar_;
  int failed_ = 0;
  std::string first_failure_;
};

}  // namespace

std::vector<StudyResult> RunPool::run(const std::vector<StudyPoint>& points, const std::string& phase) {
  std::vector<StudyResult> results;
  std::map<fs::path, RunConfig> waiting;
  for (const StudyPoint& point : points) {
    RunConfig config = config_of(point);
    const fs::path name = fs::path("runs") / (point.row + "-" + hash(config.identity() + program_digest()));
    config.out = folder_ / name;
    config.progress = false;
    if (!fs::exists(config.out / "run.json")) waiting.emplace(config.out, config);
    results.push_back({point, name.string(), {}});
  }
  Batch(std::move(waiting), jobs_, phase).finish_all();
  for (StudyResult& result : results)
    result.run = nlohmann::json::parse(read_text(folder_ / result.folder / "run.json"));
  return results;
}

}  // namespace trigram
