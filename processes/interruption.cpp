#include "processes/interruption.hpp"

#include <csignal>
#include <cstring>
#include <string>

namespace trigram {
namespace {

volatile std::sig_atomic_t noted = 0, times = 0;

void note(int signal) {
  constexpr int last_time = 3;
  noted = signal;
  times = times + 1;
  if (times < last_time) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What was there before, for one object at a time.
struct sigaction before_interrupt {
}, before_terminate{};

}  // namespace

Interruption::Interruption(int signal)
    : Error("interrupted by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")"),
      exit_code_(128 + signal) {}

NotedInterruptions::NotedInterruptions() {
  noted = 0;
  times = 0;
  struct sigaction action {};  // calls that it comes in return, so that they can look
  action.sa_handler = note;
  ::sigaction(SIGINT, &action, &before_interrupt);
  ::sigaction(SIGTERM, &action, &before_terminate);
}

NotedInterruptions::~NotedInterruptions() {
  ::sigaction(SIGINT, &before_interrupt, nullptr);
  ::sigaction(SIGTERM, &before_terminate, nullptr);
  noted = 0;
}

void require_no_interruption() {
  if (noted != 0) throw Interruption(noted);
}

}  // namespace trigram
