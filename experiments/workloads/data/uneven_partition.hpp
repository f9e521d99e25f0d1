// Shards of unlike samples and of unlike sizes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trigram {

/// Deals every sample to exactly one of `ranks` shards. Rank r draws from the domains d with d mod ranks = r mod
/// `count`, shared with the ranks r + count, r + 2·count, …, or has several where there are fewer ranks than domains.
/// Within a domain shares of ranks fall as (r + 1)^−power: 0 is even. Every shard has a sample. `domains` has the
/// domain of each sample, in [0, count); samples are shuffled first, keyed by `seed`, the same on every rank.
/// Throws UsageError where a domain has fewer samples than ranks.
std::vector<std::vector<std::int64_t>> uneven_partition(std::span<const std::int32_t> domains, int count, int ranks,
                                                        double power, std::uint64_t seed);

/// `total` things dealt out by `weights`, at least one each, by largest remainders; `total` is at least their number.
std::vector<std::int64_t> apportioned(std::int64_t total, std::span<const double> weights);

}  // namespace trigram
