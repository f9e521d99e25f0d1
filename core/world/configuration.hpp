// Settings that must be equal on all ranks of a run, compared before they begin.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trigram {

/// Names of settings and their values, as people wrote them.
using Configuration = std::map<std::string, std::string>;

/// An all-gather of bytes: takes this rank's and returns those of all ranks, in rank order.
using AllGather = std::function<std::vector<std::vector<std::byte>>(const std::vector<std::byte>&)>;

/// Throws UsageError on every rank where ranks have different settings, with each setting that differs (from rank 0's
/// first) and both values. Compares hashes, and the values only where hashes differ. Collective.
void require_same_on_all_ranks(const Configuration& own, const AllGather& all_gather);

}  // namespace trigram
