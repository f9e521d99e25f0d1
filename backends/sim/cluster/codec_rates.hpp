// Measured speeds of codecs, where bytes of memory do not say what they take.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/registry/params.hpp"

namespace trigram::sim {

/// By codec and step.
class CodecRates {
 public:
  CodecRates() = default;
  /// "top_k/encode/80us/12ns top_k/decode/40us/1ns/64..2359296": codec/step/call/element, and the sizes of tensors that
  /// it was found from. Throws UsageError naming the entry.
  explicit CodecRates(const std::string& text);

  /// Of the codec of that name and that step; nothing where the text has none. For a call of more or fewer elements
  /// than the rate was found from, a rate with both parts is continued, and `warnings` says so. One without either part
  /// is of one model, on which a call and an element could not be told apart: a UsageError.
  std::optional<CodecRate> of(const CodecWork& work) const;

  /// Which rates were continued to what sizes, as sentences.
  std::vector<std::string> warnings() const;

 private:
  struct Measured {
    CodecRate rate;
    Range<std::int64_t> elements;
    mutable Range<std::int64_t> asked = elements;  ///< and the sizes beyond them that a run had
  };
  std::map<std::string, std::array<std::optional<Measured>, 3>, std::less<>> rates_;
};

}  // namespace trigram::sim
