#include "core/world/configuration.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/world/bytes.hpp"

namespace trigram {
namespace {

using Parts = std::vector<std::vector<std::byte>>;

/// "key=value" and a zero after each, which neither can hold.
std::string packed(const Configuration& configuration) {
  std::string text;
  for (const auto& [key, value] : configuration) text += key + "=" + value + '\0';
  return text;
}

Configuration unpacked(const std::vector<std::byte>& bytes) {
  const std::string text = text_of(bytes);
  Configuration configuration;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\0', begin)) != std::string::npos; begin = end + 1) {
    const std::string entry = text.substr(begin, end - begin);
    const std::size_t sign = entry.find('=');
    ensure(sign != std::string::npos, "a rank's configuration cannot be read: ", Quoted{entry});
    configuration[entry.substr(0, sign)] = entry.substr(sign + 1);
  }
  return configuration;
}

/// Nothing where it was not given.
std::optional<std::string> value_of(const Configuration& configuration, const std::string& key) {
  const auto found = configuration.find(key);
  return found == configuration.end() ? std::nullopt : std::optional(found->second);
}

std::string setting(const std::string& key, const std::optional<std::string>& value) {
  return value ? key + "=" + shown(*value) : "no " + key;
}

/// "seed=1 on rank 0 but seed=2 on rank 3", for each setting that some rank has otherwise than rank 0; last those that
/// one of the two lacks.
std::vector<std::string> differences(const std::vector<Configuration>& ranks) {
  std::set<std::string> keys;
  for (const Configuration& rank : ranks) {
    for (const auto& [key, value] : rank) keys.insert(key);
  }
  std::vector<std::string> texts;
  std::vector<std::string> lacking;
  for (const std::string& key : keys) {
    const std::optional<std::string> first = value_of(ranks.front(), key);
    const auto other =
        std::ranges::find_if(ranks, [&](const Configuration& rank) { return value_of(rank, key) != first; });
    if (other == ranks.end()) continue;
    const std::optional<std::string> second = value_of(*other, key);
    (first && second ? texts : lacking)
        .push_back(setting(key, first) + " on rank 0 but " + setting(key, second) + " on rank " +
                   std::to_string(other - ranks.begin()));
  }
  texts.insert(texts.end(), lacking.begin(), lacking.end());
  return texts;
}

void require_no_differences(const std::vector<Configuration>& ranks) {
  constexpr std::size_t most_shown = 5;
  const std::vector<std::string> all = differences(ranks);
  if (all.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most_shown); ++i) text += (i == 0 ? "" : "; ") + all[i];
  if (all.size() > most_shown) text += "; and " + std::to_string(all.size() - most_shown) + " more";
  throw UsageError("the ranks of this job were started with different settings: " + text +
                   "; start all of them with the same");
}

}  // namespace

void require_same_on_all_ranks(const Configuration& own, const AllGather& all_gather) {
  const std::string text = packed(own);
  const Parts hashes = all_gather(bytes_of(std::to_string(std::hash<std::string>()(text))));
  if (std::ranges::all_of(hashes, [&](const auto& hash) { return hash == hashes.front(); })) return;
  std::vector<Configuration> ranks;
  for (const auto& bytes : all_gather(bytes_of(text))) ranks.push_back(unpacked(bytes));
  require_no_differences(ranks);
}

}  // namespace trigram
