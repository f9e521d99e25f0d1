// Two trainings that must agree to the last bit.
#pragma once

#include "core/training/training.hpp"

namespace trigram::testing {

/// Six steps with three scores, of which every row and the weights are kept, as comparisons need them.
TrainingOptions kept_training(const std::string& algorithm, const std::string& workload = "mlp",
                              std::int64_t bucket_bytes = 1024);

/// Where bytes sent must agree: in every step, or in all of the training where exchanges run behind the steps.
enum class SentBytes : std::uint8_t { by_step, in_all };

/// By step for a synchronous algorithm.
SentBytes sent_bytes_of(const std::string& algorithm);

/// Expects the same weights of two ranks, or of one in two trainings; they must have been kept.
void expect_same_weights(const RankReport& one, const RankReport& other);

/// Expects the same losses, bytes sent and final weights on every rank; weights must have been kept.
void expect_same_bits(const Training& a, const Training& b, SentBytes sent = SentBytes::by_step);

}  // namespace trigram::testing
