// Ranks that meet at a port of rank 0's host.
#include <charconv>

#include "core/values/quoted.hpp"
#include "meeting/store/store_rendezvous.hpp"
#include "meeting/store/tcp_store.hpp"

namespace trigram {
namespace {

class TcpMeeting final : public WayToMeet {
 public:
  std::unique_ptr<Rendezvous> open(const std::string& where, const Member& member, Patience patience) const override {
    const std::size_t colon = where.rfind(':');
    const std::string text = colon == std::string::npos ? "" : where.substr(colon + 1);
    constexpr int ports = 65535;
    int port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    require(colon != std::string::npos && colon > 0 && error == std::errc() && end == text.data() + text.size() &&
                port >= 1 && port <= ports,
            "rendezvous=tcp:" + shown(where) + " is no host and port; write tcp:HOST:PORT, where rank 0 can listen");
    auto store = std::make_unique<TcpStore>(where.substr(0, colon), port, member, patience.seconds);
    return std::make_unique<StoreRendezvous>(std::move(store), member, patience);
  }
};

const WaysToMeet::Registration registration("tcp", {"a port of rank 0's host: tcp:HOST:PORT"},
                                            [](Params&) { return std::make_unique<TcpMeeting>(); });

}  // namespace
}  // namespace trigram
