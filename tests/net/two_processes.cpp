#include "tests/net/two_processes.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace trigram::tests {
namespace {

bool enter(const std::string& name) {
  if (name.empty()) return true;
  const int file = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  const bool entered = file >= 0 && setns(file, CLONE_NEWNET) == 0;
  if (!entered) std::fprintf(stderr, "cannot enter the network namespace %s\n", name.c_str());
  return entered;
}

pid_t start(const Role& role, const std::string& name, int in, int out, int unused_in, int unused_out) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  close(unused_in);
  close(unused_out);
  if (!enter(name)) _exit(2);
  try {
    role(Pipes(in, out));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(nullptr);
    _exit(1);
  }
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace

void Pipes::write(const void* bytes, std::size_t size) const {
  if (::write(out_, bytes, size) != static_cast<ssize_t>(size)) _exit(3);
}

void Pipes::read(void* bytes, std::size_t size) const {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::read(in_, at, size);
    if (count <= 0) _exit(3);
    at += count;
    size -= static_cast<std::size_t>(count);
  }
}

int run_two(const Role& one, const std::string& namespace_of_one, const Role& other,
            const std::string& namespace_of_other) {
  int forth[2];
  int back[2];
  if (pipe(forth) != 0 || pipe(back) != 0) return 2;
  const pid_t first = start(one, namespace_of_one, back[0], forth[1], forth[0], back[1]);
  const pid_t second = start(other, namespace_of_other, forth[0], back[1], back[0], forth[1]);
  for (const int end : {forth[0], forth[1], back[0], back[1]}) close(end);
  int of_first = 1;
  int of_second = 1;
  waitpid(first, &of_first, 0);
  waitpid(second, &of_second, 0);
  return of_first == 0 && of_second == 0 ? 0 : 1;
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace trigram::tests
