#include "experiments/program/advise/advice.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/step/algorithm.hpp"

namespace trigram {
namespace {

/// "synchronous", "full precision" and "centralized", or what stands in for each.
nlohmann::json kinds_of(const std::string& method) {
  nlohmann::json kinds = nlohmann::json::array();
  const std::string words = Algorithms::make(method)->trigram().words();
  for (std::size_t begin = 0, end = 0; end < words.size(); begin = end + 2) {
    end = std::min(words.find(", ", begin), words.size());
    kinds.push_back(words.substr(begin, end - begin));
  }
  return kinds;
}

}  // namespace

double chance_of_gain(const Advice& one, const Advice& today) {
  if (one.range.draws.empty() || today.range.draws.empty()) return chance_of_less(one.took(), today.took());
  return chance_of_less(one.range, today.range);
}

std::string script_of(const std::string& method) {
  return "trigram.with_trigram(model, [optimizer], \"" + method + "\")";
}

nlohmann::json facts_of(const Advice& one, const Advice& today) {
  const std::string& name = one.method.name;
  nlohmann::json facts{{"name", name},
                       {"seconds", one.predicted.seconds},
                       {"gain", today.predicted.seconds / one.predicted.seconds},
                       {"chance", chance_of_gain(one, today)},
                       {"bytes", one.predicted.bytes},
                       {"kinds", kinds_of(name)},
                       {"risks", Algorithms::describe(name).when_not},
                       {"script", script_of(name)},
                       {"of_95", nullptr}};
  if (!one.range.draws.empty()) facts["of_95"] = {one.range.seconds.of_95.least, one.range.seconds.of_95.most};
  return facts;
}

}  // namespace trigram
