#include "meeting/local_ranks.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>

#include "core/values/error.hpp"
#include "processes/child_process.hpp"
#include "processes/clock.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// A folder for one run, gone with it.
class MeetingFolder {
 public:
  MeetingFolder() {
    std::string name = (fs::temp_directory_path() / "trigram-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw BackendError("the ranks cannot meet: no folder can be made in " + fs::temp_directory_path().string() +
                         ": " + std::strerror(errno));
    }
    path_ = name;
  }
  ~MeetingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  MeetingFolder(const MeetingFolder&) = delete;
  MeetingFolder& operator=(const MeetingFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr int for_ever = -1;

/// Waits until a child says something or ends, or for so many milliseconds.
void listen_to(std::list<ChildProcess>& children, int milliseconds) {
  std::vector<pollfd> pipes;
  std::vector<ChildProcess*> heard;
  for (ChildProcess& child : children) {
    if (child.ended()) continue;
    pipes.push_back({child.pipe(), POLLIN, 0});
    heard.push_back(&child);
  }
  if (poll(pipes.data(), pipes.size(), milliseconds) < 0 && errno != EINTR) {
    throw BackendError(std::string("cannot wait for the ranks: ") + std::strerror(errno));
  }
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (pipes[i].revents != 0) heard[i]->read_some();
  }
}

bool running(const ChildProcess& child) { return !child.ended(); }

bool reported(const ChildProcess& child) { return child.reported_error(); }

/// Throws the error of a rank that died without a word, which explains what others lost, else the first that was heard.
/// A rank that reports may take long to end, or never do.
void throw_failures(std::list<ChildProcess>& children) {
  const auto first = std::ranges::find_if(children, reported);
  if (first != children.end()) {
    // Who has lost a peer may be heard before the peer's end is.
    constexpr double seconds = 0.1;
    const double until = seconds_now() + seconds;
    for (double now = seconds_now(); now < until && std::ranges::any_of(children, running); now = seconds_now())
      listen_to(children, static_cast<int>((until - now) * 1e3) + 1);
  }
  for (const ChildProcess& child : children) {
    if (child.ended() && !child.reported_error()) static_cast<void>(child.result());
  }
  if (first != children.end()) static_cast<void>(first->result());
}

}  // namespace

std::vector<Bytes> run_local_ranks(int ranks, const std::function<Bytes(const LocalRank&)>& body) {
  const MeetingFolder folder;
  std::list<ChildProcess> children;
  for (int rank = 0; rank < ranks; ++rank) {
    children.emplace_back("rank " + std::to_string(rank), [&](HomeLine& home) {
      const Member member{rank, ranks, rank, "none", "job", "file:" + (folder.path() / "ranks").string(), "", ""};
      home.send_result(body({member, [&home](const CarriedError& error) { home.send_error(error); }}));
    });
  }
  while (std::ranges::any_of(children, running)) {
    listen_to(children, for_ever);
    throw_failures(children);
  }
  std::vector<Bytes> results;
  for (const ChildProcess& child : children) results.push_back(child.result());
  return results;
}

}  // namespace trigram
