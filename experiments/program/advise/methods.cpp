// Chooses methods by what they declare.
#include "experiments/program/advise/methods.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr std::int64_t few_steps = 4, steps_until_steady = 16;

/// Whole numbers among the defaults of a method's parameters.
std::map<std::string, std::int64_t> numbers_of(const std::string& name) {
  std::map<std::string, std::int64_t> numbers;
  for (const Params::Declared& one : Algorithms::parameters(name)) {
    if (one.type == "integer") numbers[one.key] = std::stoll(one.fallback);
  }
  return numbers;
}

std::int64_t number(const std::map<std::string, std::int64_t>& numbers, const std::string& key,
                    std::int64_t otherwise) {
  const auto found = numbers.find(key);
  return found == numbers.end() ? otherwise : found->second;
}

/// Steps that what is averaged may be old.
std::int64_t staleness(const std::string& name, const std::map<std::string, std::int64_t>& numbers) {
  const std::int64_t declared = number(numbers, "staleness", number(numbers, "delay", -1));
  if (declared >= 0) return declared;
  const bool waits = Algorithms::make(name)->trigram().synchrony == Trigram::Synchrony::synchronous;
  return waits ? 0 : std::numeric_limits<std::int64_t>::max();
}

/// Whether each step leaves what the mean of all gradients would.
bool keeps_accuracy(const std::string& name, const std::map<std::string, std::int64_t>& numbers) {
  const Trigram trigram = Algorithms::make(name)->trigram();
  return trigram.precision == Trigram::Precision::full && trigram.centrality == Trigram::Centrality::centralized &&
         staleness(name, numbers) == 0 && !numbers.contains("every");
}

Method method(const std::string& name, const std::map<std::string, std::int64_t>& numbers) {
  const std::int64_t every = std::max<std::int64_t>(1, number(numbers, "every", 1));
  const std::int64_t average = std::max<std::int64_t>(1, number(numbers, "average_every", 1));
  const std::int64_t period = every * average;
  const bool steady = staleness(name, numbers) == 0;
  const std::int64_t least = steady ? few_steps : steps_until_steady;
  Method made{name, name, (least + period - 1) / period * period};
  if (number(numbers, "warmup", 0) > 0) {
    const std::string warm = name + ":warmup=0";
    try {
      Algorithms::make(warm);
      made.simulated = warm;
    } catch (const UsageError&) {
      made.simulated = name + ":warmup=1";
      made.steps = steps_until_steady;
    }
  }
  return made;
}

}  // namespace

std::vector<Method> methods(const MethodChoice& choice) {
  std::vector<Method> all;
  for (const std::string& name : choice.names.empty() ? Algorithms::names() : choice.names) {
    static_cast<void>(Algorithms::describe(name));  // refuses what is none
    if (name == "python_algorithm") continue;       // a place for one, which is nothing by itself
    const auto numbers = numbers_of(name);
    if (choice.keep_accuracy && !keeps_accuracy(name, numbers)) continue;
    if (choice.max_staleness >= 0 && staleness(name, numbers) > choice.max_staleness) continue;
    all.push_back(method(name, numbers));
  }
  return all;
}

}  // namespace trigram
