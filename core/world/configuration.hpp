// What all ranks of a run must have been given alike, compared before they begin.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trigram {

/// Names of settings and their values, as people wrote them.
using Configuration = std::map<std::string, std::string>;

/// Brings this rank's bytes and gives everybody's, in rank order.
using AllGather = std::function<std::vector<std::vector<std::byte>>(const std::vector<std::byte>&)>;

/// Compares hashes, and texts only where those differ; collective. Throws UsageError on every rank, with each setting
/// that differs (at first with rank 0's) and both values.
void require_same_on_all_ranks(const Configuration& own, const AllGather& all_gather);

}  // namespace trigram
