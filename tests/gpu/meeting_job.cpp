// A rank that meets the others as a GPU job's ranks do and works with them for some seconds, without a GPU: what others
// do to such a job meanwhile is the test. Prints "met" and "done". meeting_job SECONDS [PLACE]
#include <chrono>
#include <iostream>
#include <string>

#include "backends/gpu/host/job_membership.hpp"
#include "core/values/error.hpp"
#include "tests/support/exit_status.hpp"

namespace trigram::gpu {
namespace {

constexpr Patience patience{20};

/// Everybody's bytes must be right in every round; rank 0 says how long it goes on.
void work(Rendezvous& rendezvous, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const auto own = static_cast<std::byte>(rendezvous.rank());
  for (bool last = false; !last;) {
    const std::chrono::duration<double> worked = std::chrono::steady_clock::now() - begin;
    const std::byte ends = worked.count() < seconds ? std::byte{0} : std::byte{1};
    const Rendezvous::Parts parts = rendezvous.all_gather({own, ends}, patience);
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      ensure(parts[rank].size() == 2 && parts[rank][0] == static_cast<std::byte>(rank), "wrong bytes");
    }
    last = parts[0][1] != std::byte{0};
  }
}

void run(double seconds, const std::string& place) {
  const std::optional<Member> member = member_of(launcher_environment());
  require(member.has_value(), "no launcher's variables say which rank this is");
  Rendezvous& rendezvous = JobMembership::join(*member, place, patience).rendezvous();
  std::cout << "met" << std::endl;
  work(rendezvous, seconds);
  std::cout << "done" << std::endl;
}

}  // namespace
}  // namespace trigram::gpu

int main(int count, char** words) {
  return trigram::testing::exit_status(
      [&] { trigram::gpu::run(count > 1 ? std::stod(words[1]) : 0, count > 2 ? words[2] : ""); });
}
