// Holds a codec to what it declares, on the device of any backend.
//   frames    the same vector under the same key gives the same frame, of the declared size, whatever bits a NaN has
//   decoding  decode_add adds what decode gives
//   bound     the mean error of many keys is within the declared bound, of the worst vector that is found: one of
//             those that hurt (core/conformance/hard_vectors.hpp), or where an ascent from it ends
//   unbiased  where it says so, the mean of many keys is near the vector
#pragma once

#include <string>
#include <vector>

#include "core/conformance/finding.hpp"
#include "core/training/backend.hpp"

namespace trigram {

/// What came of vectors of one size.
struct TriedCodec {
  std::int64_t count = 0;
  std::int64_t bytes = 0;  ///< of a frame
  double error = 0;        ///< mean of ‖C(x) − x‖² / ‖x‖², of the worst vector that was tried
  double bound = 0;        ///< what is declared for it
  std::vector<Violation> violations;
};

/// Sizes from 0 to some thousand elements. Throws UsageError for what no codec accepts.
std::vector<TriedCodec> try_codec(const std::string& spec, Device& device);
/// The same on rank 0 of so many.
std::vector<TriedCodec> try_codec(const std::string& spec, Backend& backend, int ranks = 1);

}  // namespace trigram
