// Reads the lists of slow ranks, changes, faults, outages and foreign traffic.
#include "backends/sim/cluster/events.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram::sim {

namespace {

/// At most `most` fields; the last one keeps further separators, as the one in "1GB/s".
std::vector<std::string> split(const std::string& text, char separator, std::size_t most) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  while (fields.size() + 1 < most && text.find(separator, begin) != std::string::npos) {
    const std::size_t end = text.find(separator, begin);
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  fields.push_back(text.substr(begin));
  return fields;
}

std::vector<std::string> fields_of(const std::string& entry, char separator, std::size_t wanted, const char* form) {
  const std::vector<std::string> fields = split(entry, separator, wanted);
  require(fields.size() == wanted, Quoted(entry), " is malformed; write ", form);
  return fields;
}

double parse_factor(const std::string& text, const std::string& entry) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  require(error == std::errc() && end == text.data() + text.size() && factor >= 1e-6 && factor <= 1e9, Quoted(entry),
          ": a factor of slowness is from 1e-6 to 1e9, as 2 for half the speed");
  return factor;
}

template <class Kind, std::size_t n>
Kind parse_name(const std::string& text, const std::string& entry, const std::array<const char*, n>& names) {
  std::string known;
  for (std::size_t i = 0; i < n; ++i) {
    if (text == names[i]) return static_cast<Kind>(i);
    known += (i ? ", " : "") + std::string(names[i]);
  }
  throw UsageError(in_quotes(entry) + ": " + in_quotes(text) + did_you_mean(text, {names.begin(), names.end()}) +
                   " is none of " + known);
}

constexpr std::array names_of_parts{"nic", "gpu", "node"};

double parse_value(Change::Quantity quantity, const std::string& text, const std::string& entry) {
  switch (quantity) {
    case Change::Quantity::nic_bandwidth:
    case Change::Quantity::node_bandwidth: {
      const double bandwidth = parse_quantity(text, Unit::bytes_per_second);
      require(bandwidth >= 0.1, Quoted(entry), ": a bandwidth must be above 0; a lost link is one of `faults`");
      return bandwidth;
    }
    case Change::Quantity::nic_latency:
    case Change::Quantity::node_latency:
      return parse_quantity(text, Unit::seconds);
    case Change::Quantity::slow:
      return parse_factor(text, entry);
  }
  throw Error("not a quantity of a cluster");
}

}  // namespace

std::vector<std::string> split_at_spaces(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

int parse_index(const std::string& text, const std::string& entry) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  require(error == std::errc() && end == text.data() + text.size() && index >= 0, Quoted(entry), ": ", Quoted(text),
          " is no whole number from 0 on");
  return index;
}

std::vector<Slow> parse_slow(const std::string& text) {
  std::vector<Slow> all;
  for (const std::string& entry : split_at_spaces(text)) {
    const auto fields = fields_of(entry, ':', 2, "rank:factor, as 3:4");
    all.push_back({parse_index(fields[0], entry), parse_factor(fields[1], entry)});
  }
  return all;
}

std::vector<Change> parse_changes(const std::string& text) {
  constexpr std::array names{"nic_bandwidth", "nic_latency", "node_bandwidth", "node_latency", "slow"};
  std::vector<Change> all;
  for (const std::string& entry : split_at_spaces(text)) {
    const auto fields = fields_of(entry, '/', 4, "time/quantity/target/value, as 0.5s/nic_bandwidth/2/1Gbps");
    Change change{parse_quantity(fields[0], Unit::seconds), parse_name<Change::Quantity>(fields[1], entry, names),
                  parse_index(fields[2], entry), 0};
    change.value = parse_value(change.quantity, fields[3], entry);
    all.push_back(change);
  }
  return all;
}

std::vector<Fault> parse_faults(const std::string& text) {
  std::vector<Fault> all;
  for (const std::string& entry : split_at_spaces(text)) {
    const auto fields = fields_of(entry, '/', 3, "time/part/target, as 0.5s/nic/2");
    all.push_back({parse_quantity(fields[0], Unit::seconds), parse_name<Fault::Part>(fields[1], entry, names_of_parts),
                   parse_index(fields[2], entry)});
  }
  return all;
}

std::vector<Outage> parse_outages(const std::string& text) {
  std::vector<Outage> all;
  for (const std::string& entry : split_at_spaces(text)) {
    const auto halves = split(entry, '@', 2), fields = split(halves[0], '/', 3);
    require(halves.size() == 2 && fields.size() == 3, Quoted(entry),
            " is malformed; write length/part/target@time, as 20s/nic/2@60s");
    const double from = parse_quantity(halves[1], Unit::seconds);
    all.push_back({from, from + parse_quantity(fields[0], Unit::seconds),
                   parse_name<Fault::Part>(fields[1], entry, names_of_parts), parse_index(fields[2], entry)});
  }
  return all;
}

std::vector<Background> parse_background(const std::string& text) {
  std::vector<Background> all;
  for (const std::string& entry : split_at_spaces(text)) {
    const auto halves = split(entry, '/', 2);
    const auto ends = fields_of(halves[0], '>', 2, "from>to, as 0>1, with two different nodes");
    Background flow{parse_index(ends[0], entry), parse_index(ends[1], entry), 0};
    require(flow.from != flow.to, Quoted(entry), ": traffic needs two different nodes");
    if (halves.size() == 2) flow.rate = parse_quantity(halves[1], Unit::bytes_per_second);
    all.push_back(flow);
  }
  return all;
}

}  // namespace trigram::sim
