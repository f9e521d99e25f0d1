// Ranks that meet in a folder that all of them see.
#include "meeting/store/file_store.hpp"
#include "meeting/store/store_rendezvous.hpp"

namespace trigram {
namespace {

class FileMeeting final : public WayToMeet {
 public:
  std::unique_ptr<Rendezvous> open(const std::string& where, const Member& member, Patience patience) const override {
    require(!where.empty(), "rendezvous=file names no folder; write file:PATH, a folder that all ranks see");
    return std::make_unique<StoreRendezvous>(std::make_unique<FileStore>(where, member, patience.seconds), member,
                                             patience);
  }
};

const WaysToMeet::Registration registration("file", {"a folder that all ranks see: file:PATH"},
                                            [](Params&) { return std::make_unique<FileMeeting>(); });

}  // namespace
}  // namespace trigram
