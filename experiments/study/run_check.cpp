// Checks many configurations before the first one runs.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/packing.hpp"
#include "experiments/study/run_pool.hpp"
#include "experiments/study/study_run.hpp"

namespace trigram {
namespace {

/// The first refusal of a checker.
struct Refused {
  std::size_t index;
  std::string message;
};

/// Every `stride`-th run from the `first`, until one is refused.
Refused first_refusal(const std::vector<StudyRun>& runs, std::size_t first, std::size_t stride) {
  for (std::size_t i = first; i < runs.size(); i += stride) {
    try {
      check_run(runs[i].config);
    } catch (const std::exception& error) {
      return {i, error.what()};
    }
  }
  return {runs.size(), ""};
}

[[noreturn]] void be_checker(int out, const Refused& refusal) {
  Packer packer;
  packer.put(refusal.index);
  packer.put_text(refusal.message);
  const std::vector<std::byte> bytes = std::move(packer).bytes();
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(out, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  ::_exit(done == bytes.size() ? 0 : 1);
}

/// A process that checks its share of the runs, and the end of the pipe from which its refusal comes.
class Checker {
 public:
  Checker(const std::vector<StudyRun>& runs, std::size_t first, std::size_t stride) {
    int ends[2];
    ensure(::pipe2(ends, O_CLOEXEC) == 0, "cannot open a pipe");
    in_ = ends[0];
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      be_checker(ends[1], first_refusal(runs, first, stride));
    }
    ::close(ends[1]);
  }
  ~Checker() {
    ::close(in_);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  Refused refusal() const {
    ensure(pid_ > 0, "cannot start another process");
    std::vector<std::byte> bytes;
    std::array<std::byte, 4096> piece{};
    for (;;) {
      const ssize_t count = ::read(in_, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      bytes.insert(bytes.end(), piece.begin(), piece.begin() + count);
    }
    ensure(!bytes.empty(), "the process that checks the runs of the study died");
    Unpacker unpacker(bytes);
    Refused refusal{unpacker.take<std::size_t>(), ""};
    refusal.message = unpacker.take_text();
    return refusal;
  }

 private:
  int in_ = -1;
  pid_t pid_ = -1;
};

}  // namespace

void RunPool::check(const std::vector<StudyPoint>& points) {
  std::vector<StudyRun> runs;
  std::vector<std::string> places;
  std::set<std::string> seen;
  for (const StudyPoint& point : points) {
    StudyRun run(folder_, point);
    if (!seen.insert(run.name).second || !read_run(run.config.out, run.identity, digests_).run.is_null()) continue;
    runs.push_back(std::move(run));
    places.push_back(point.place);
  }
  const std::size_t checkers = std::min(runs.size(), static_cast<std::size_t>(jobs_));
  std::deque<Checker> all;
  for (std::size_t i = 0; i < checkers; ++i) all.emplace_back(runs, i, checkers);
  Refused first{runs.size(), ""};
  for (const Checker& checker : all) {
    Refused refusal = checker.refusal();
    if (refusal.index < first.index) first = std::move(refusal);
  }
  if (first.index < runs.size()) throw UsageError(places[first.index] + first.message);
}

}  // namespace trigram
