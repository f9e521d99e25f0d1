// Codecs, measured on all ranks at the same time, since ranks may share cores or a GPU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/lane/worker.hpp"

namespace trigram {

/// One operation of one codec.
struct CodecOperation {
  std::string codec;
  std::string step;  ///< "encode", "decode" or "decode_add"
};

/// Throws UsageError unless `names` is "all" or names of codecs, apart by blanks.
void require_codecs(const std::string& names);

/// All steps of the codecs that `kind` of device has, with their default parameters: of those named, or of "all".
std::vector<CodecOperation> codec_operations(const std::string& kind, const std::string& names);

/// Elements of the vectors on which they are measured.
std::span<const std::int64_t> codec_counts();

/// A rank's seconds of one call, in the order round, operation, count. `phantom` where time is a model's.
std::vector<double> probe_codecs(RankRuntime& runtime, const std::vector<CodecOperation>& operations, int rounds,
                                 bool phantom);

}  // namespace trigram
