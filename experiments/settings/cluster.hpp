// Clusters: files of a backend's parameters, named or by path.
#pragma once

#include <string>

#include "core/registry/params.hpp"

namespace trigram {

/// The parameters that "NAME|FILE[:key=value,…]" stands for: those of the file, with the ones after the colon in their
/// place, of ranges the value itself; a FILE.xml is a SimGrid platform. Messages name the file. Throws UsageError for
/// an unknown name, a missing file, a malformed line or key.
Params read_cluster(const std::string& text);

/// The same with the ranges of values ("25us in 15us..60us") as they were written.
Params cluster_as_written(const std::string& text);

}  // namespace trigram
