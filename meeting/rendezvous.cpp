#include "meeting/rendezvous.hpp"

namespace trigram {

std::unique_ptr<Rendezvous> meet(const std::string& place, const Member& member, Patience patience) {
  const std::size_t colon = place.find(':');
  const std::string kind = place.substr(0, colon);
  require(kind != "mpi" || WaysToMeet::has(kind),
          member.launcher +
              " started this process, but this build has no MPI; let the ranks meet by "
              "rendezvous=file:PATH, a folder that all of them see, or rendezvous=tcp:HOST:PORT");
  return WaysToMeet::make(kind)->open(colon == std::string::npos ? "" : place.substr(colon + 1), member, patience);
}

}  // namespace trigram
