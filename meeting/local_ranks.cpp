#include "meeting/local_ranks.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>

#include "core/error.hpp"
#include "processes/child_process.hpp"

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

/// Waits until a child says something or ends.
void listen_to(std::list<ChildProcess>& children) {
  std::vector<pollfd> pipes;
  std::vector<ChildProcess*> heard;
  for (ChildProcess& child : children) {
    if (child.ended()) continue;
    pipes.push_back({child.pipe(), POLLIN, 0});
    heard.push_back(&child);
  }
  if (poll(pipes.data(), pipes.size(), -1) < 0 && errno != EINTR) {
    throw BackendError(std::string("cannot wait for the ranks: ") + std::strerror(errno));
  }
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (pipes[i].revents != 0) heard[i]->read_some();
  }
}

bool running(const ChildProcess& child) { return !child.ended(); }

/// Throws the error of the first rank that has one to tell. A rank that reports may take long to end, or never do.
void throw_failures(const std::list<ChildProcess>& children) {
  for (const ChildProcess& child : children) {
    if (child.ended() || child.reported_error()) static_cast<void>(child.result());
  }
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
    listen_to(children);
    throw_failures(children);
  }
  std::vector<Bytes> results;
  for (const ChildProcess& child : children) results.push_back(child.result());
  return results;
}

}  // namespace trigram
