#include "backends/sim/codec_rates.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "backends/sim/events.hpp"
#include "core/by_device.hpp"
#include "core/codec.hpp"
#include "core/quoted.hpp"
#include "core/spelling.hpp"
#include "core/units.hpp"

namespace trigram::sim {

namespace {

const std::vector<std::string> step_names{"encode", "decode", "decode_add"};

std::vector<std::string> at_slashes(const std::string& entry) {
  std::istringstream stream(entry);
  std::vector<std::string> fields;
  for (std::string field; std::getline(stream, field, '/');) fields.push_back(field);
  require(fields.size() == 4 && !entry.ends_with('/'), Quoted(entry),
          " is malformed; write codec/step/call/element, as top_k/encode/80us/12ns");
  return fields;
}

std::size_t step_of(const std::string& name, const std::string& entry) {
  const auto found = std::find(step_names.begin(), step_names.end(), name);
  require(found != step_names.end(), Quoted(entry), ": ", Quoted(name), did_you_mean(name, step_names),
          " is none of encode, decode, decode_add");
  return static_cast<std::size_t>(found - step_names.begin());
}

}  // namespace

CodecRates::CodecRates(const std::string& text) {
  for (const std::string& entry : split_at_spaces(text)) {
    const std::vector<std::string> fields = at_slashes(entry);
    kind_with<Codec>(fields[0]);  // throws where there is none
    std::optional<CodecRate>& rate = rates_[fields[0]][step_of(fields[1], entry)];
    require(!rate, Quoted(entry), ": its codec and step have a speed already; give one");
    rate = CodecRate{parse_quantity(fields[2], Unit::seconds), parse_quantity(fields[3], Unit::seconds)};
    require(rate->call > 0 || rate->element > 0, Quoted(entry), " takes no time at all; give what was measured");
  }
}

std::optional<CodecRate> CodecRates::of(const CodecWork& work) const {
  const auto found = rates_.find(work.codec);
  return found == rates_.end() ? std::nullopt : found->second[static_cast<std::size_t>(work.step)];
}

}  // namespace trigram::sim
