// Measured speeds of codecs, where bytes of memory do not say what they take.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "core/device.hpp"

namespace trigram::sim {

/// By codec and step.
class CodecRates {
 public:
  CodecRates() = default;
  /// "top_k/encode/80us/12ns top_k/decode/40us/1ns": codec/step/call/element. Throws UsageError naming the entry.
  explicit CodecRates(const std::string& text);

  /// Of the codec of that name and that step; nothing where the text has none.
  std::optional<CodecRate> of(const CodecWork& work) const;

 private:
  std::map<std::string, std::array<std::optional<CodecRate>, 3>, std::less<>> rates_;
};

}  // namespace trigram::sim
