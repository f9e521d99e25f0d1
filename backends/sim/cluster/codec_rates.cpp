#include "backends/sim/cluster/codec_rates.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "backends/sim/cluster/events.hpp"
#include "core/device/codec.hpp"
#include "core/registry/by_device.hpp"
#include "core/registry/spelling.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram::sim {

namespace {

const std::vector<std::string> step_names{"encode", "decode", "decode_add"};

std::vector<std::string> at_slashes(const std::string& entry) {
  std::istringstream stream(entry);
  std::vector<std::string> fields;
  for (std::string field; std::getline(stream, field, '/');) fields.push_back(field);
  require((fields.size() == 4 || fields.size() == 5) && !entry.ends_with('/'), Quoted(entry),
          " is malformed; write codec/step/call/element, as top_k/encode/80us/12ns, or "
          "codec/step/call/element/least..most with the elements of a call that it was measured on");
  return fields;
}

/// "64..2359296".
Range<std::int64_t> elements_of(const std::string& field, const std::string& entry) {
  const std::size_t dots = field.find("..");
  const auto least = dots == std::string::npos ? std::nullopt : whole_number(field.substr(0, dots));
  const auto most = dots == std::string::npos ? std::nullopt : whole_number(field.substr(dots + 2));
  require(least && most && *least >= 1 && *least <= *most, Quoted(entry), ": ", Quoted(field),
          " is no range of elements; write LEAST..MOST, as 64..2359296");
  return {*least, *most};
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
    std::optional<Measured>& measured = rates_[fields[0]][step_of(fields[1], entry)];
    require(!measured, Quoted(entry), ": its codec and step have a speed already; give one");
    measured = Measured{{parse_quantity(fields[2], Unit::seconds), parse_quantity(fields[3], Unit::seconds)}, {}};
    if (fields.size() > 4) measured->elements = measured->asked = elements_of(fields[4], entry);
    require(measured->rate.call > 0 || measured->rate.element > 0, Quoted(entry),
            " takes no time at all; give what was measured");
  }
}

std::optional<CodecRate> CodecRates::of(const CodecWork& work) const {
  const auto found = rates_.find(work.codec);
  if (found == rates_.end()) return std::nullopt;
  const auto step = static_cast<std::size_t>(work.step);
  const std::optional<Measured>& measured = found->second[step];
  if (!measured) return std::nullopt;
  const auto& [least, most] = measured->elements;
  if (measured->elements.contains(work.elements)) return measured->rate;
  require(measured->rate.call > 0 && measured->rate.element > 0, "'codec_rates' of ", work.codec,
          " were measured on calls to ", step_names[step], " of ", least, " to ", most,
          " elements, and this run has one of ", work.elements,
          ": what a call takes and what an element takes may be other; measure them on such sizes (trigram calibrate "
          "--codecs), or leave the sizes out of the entry if you know better");
  measured->asked.least = std::min(measured->asked.least, work.elements);
  measured->asked.most = std::max(measured->asked.most, work.elements);
  return measured->rate;
}

std::vector<std::string> CodecRates::warnings() const {
  std::vector<std::string> all;
  for (const auto& [codec, steps] : rates_) {
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const std::optional<Measured>& of = steps[step];
      if (!of || (of->asked.least == of->elements.least && of->asked.most == of->elements.most)) continue;
      all.push_back("'codec_rates' of " + codec + "/" + step_names[step] + " were measured on calls of " +
                    std::to_string(of->elements.least) + " to " + std::to_string(of->elements.most) +
                    " elements; this run has calls of " + std::to_string(of->asked.least) + " to " +
                    std::to_string(of->asked.most) + ", for which their line is continued");
    }
  }
  return all;
}

}  // namespace trigram::sim
