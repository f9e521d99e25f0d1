#include "backends/threads/gatherings.hpp"

#include <string>
#include <vector>

namespace trigram::threads {

struct Gatherings::Gathering {
  explicit Gathering(std::size_t ranks) : parts(ranks), came(ranks) {}

  /// "rank 1 and rank 3"
  std::string missing() const {
    std::string names;
    for (std::size_t rank = 0; rank < came.size(); ++rank) {
      if (!came[rank]) names += (names.empty() ? "rank " : " and rank ") + std::to_string(rank);
    }
    return names;
  }

  HostGroup::Parts parts;
  std::vector<bool> came;
  std::size_t count = 0;
};

Gatherings::Gatherings(int ranks)
    : ranks_(ranks), filling_(std::make_shared<Gathering>(static_cast<std::size_t>(ranks))) {}

HostGroup::Parts Gatherings::all_gather(int rank, const Bytes& own, const Wait& wait) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Gathering> ours = filling_;
  const auto ranks = static_cast<std::size_t>(ranks_), self = static_cast<std::size_t>(rank);
  ours->parts[self] = own;
  ours->came[self] = true;
  if (++ours->count == ranks) filling_ = std::make_shared<Gathering>(ranks);
  changed_.notify_all();
  wait.until(
      changed_, lock, [&] { return ours->count == ranks; }, [&] { return ours->missing(); });
  return ours->parts;
}

}  // namespace trigram::threads
