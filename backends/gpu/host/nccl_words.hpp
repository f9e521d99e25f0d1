// NCCL's codes in words, for messages.
#pragma once

#include <string>
#include <vector>

namespace trigram::gpu {

/// "2.28.9" of 22809.
std::string version_text(int version);

/// The name of a result, what it means for the user, and what to look at; for an unknown one its number.
std::string result_words(int result);

/// Throws UsageError unless all ranks run one version of NCCL, naming two that differ.
void require_one_version(const std::vector<int>& version_of_rank);

}  // namespace trigram::gpu
