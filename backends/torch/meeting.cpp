#include "backends/torch/meeting.hpp"

#include <string>
#include <utility>

#include "core/values/error.hpp"
#include "meeting/secret.hpp"
#include "meeting/store/store_rendezvous.hpp"
#include "meeting/store/tcp_store.hpp"

namespace trigram::torch {
namespace {

constexpr int any_free_port = 0;
constexpr std::size_t secret_bytes = 32;

/// Others hear of the port when nobody else can have it any more; and of the reason where rank 0 cannot listen, so that
/// all ranks end with it.
std::unique_ptr<TcpStore> open_store(const Connections& connections, const Place& place, Member& member,
                                     double seconds) {
  member.secret = random_digits(secret_bytes);
  try {
    auto store = std::make_unique<TcpStore>(place.listens, any_free_port, member, seconds);
    connections.tell({{"host", place.host}, {"port", store->port()}, {"secret", member.secret}});
    return store;
  } catch (const UsageError& error) {
    connections.tell({{"reason", error.what()}});
    throw;
  }
}

std::unique_ptr<TcpStore> find_store(const Connections& connections, Member& member, double seconds) {
  const nlohmann::json told = connections.tell(nullptr);
  if (told.contains("reason")) throw UsageError(told.at("reason").get<std::string>());
  member.secret = told.at("secret");
  return std::make_unique<TcpStore>(told.at("host").get<std::string>(), told.at("port").get<int>(), member, seconds);
}

}  // namespace

std::unique_ptr<Rendezvous> meet_beside(const Connections& connections, const Place& place, double seconds) {
  Member member;
  member.rank = place.rank;
  member.ranks = place.ranks();
  member.launcher = "torch.distributed";
  auto store =
      place.rank == 0 ? open_store(connections, place, member, seconds) : find_store(connections, member, seconds);
  return std::make_unique<StoreRendezvous>(std::move(store), member, Patience{seconds});
}

}  // namespace trigram::torch
