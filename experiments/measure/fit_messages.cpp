// Mechanisms are added one by one, the one that explains most first; their numbers are found by least squares.
#include "experiments/measure/fit_messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/values/error.hpp"
#include "experiments/measure/message_mechanisms.hpp"
#include "experiments/measure/search.hpp"

namespace trigram {
namespace {

/// A number of the terms that is searched for, between ends that differ by a factor.
struct Searched {
  double MessageTerms::*value;
  double least, most;

  double at(double place) const { return least * std::pow(most / least, place); }
  double place_of(double number) const {
    return std::clamp(std::log(std::max(number, least) / least) / std::log(most / least), 0.0, 1.0);
  }
};

double sum_of_squares(const MessageTerms& terms, const TimedMessages& messages) {
  double sum = 0;
  for (const double residual : messages.residuals(terms)) sum += residual * residual;
  return sum;
}

/// Bytes per second of the longest message, of which latencies and bursts matter least.
double rate_of(const TimedMessages& messages) { return messages.sizes.back().amount / messages.sizes.back().seconds; }

double shortest_of(const TimedMessages& messages) {
  double shortest = messages.sizes.front().seconds;
  for (const TimedAmount& size : messages.sizes) shortest = std::min(shortest, size.seconds);
  return shortest;
}

bool plain(const MessageTerms& terms) {
  return terms.handshake == 0 && terms.window == 0 && terms.burst == 0 && terms.chunk == 0;
}

/// Plain terms by the line that fits best.
MessageTerms with_line(MessageTerms terms, const TimedMessages& messages) {
  const AlphaBeta line = fit_alpha_beta(messages.sizes);
  terms.latency = std::max(0.0, line.alpha - terms.overhead);
  terms.bandwidth = line.beta > 0 ? 1 / line.beta : std::numeric_limits<double>::infinity();
  return terms;
}

/// What crowds and queues change.
std::vector<Searched> crowded_numbers(const MessageTerms& terms, const TimedMessages& messages) {
  constexpr double windowed = 50, open = 5, near = 0.8, least_share = 0.01, least_latency = 1e-9;
  const double rate = rate_of(messages), shortest = std::max(least_latency, shortest_of(messages));
  const double longest = messages.sizes.back().seconds;
  std::vector<Searched> numbers = {
      {&MessageTerms::latency, least_share * shortest, shortest},
      {&MessageTerms::bandwidth, near * rate, (terms.window > 0 ? windowed : open) * rate}};
  if (terms.handshake > 0) numbers.push_back({&MessageTerms::handshake, least_share * shortest, longest});
  if (terms.window > 0)
    numbers.push_back({&MessageTerms::window, messages.sizes[1].amount, messages.sizes.back().amount});
  return numbers;
}

std::vector<Searched> all_numbers(const MessageTerms& terms, const TimedMessages& messages) {
  constexpr double slowest = 0.02, least_line = 1.5, most_line = 100;
  std::vector<Searched> numbers = crowded_numbers(terms, messages);
  const double rate = rate_of(messages);
  if (terms.burst > 0) {
    numbers.push_back({&MessageTerms::burst, messages.sizes[1].amount / 2, messages.sizes.back().amount / 4});
    numbers.push_back({&MessageTerms::line_rate, least_line * rate, most_line * rate});
  }
  if (terms.chunk > 0) numbers.push_back({&MessageTerms::slower, slowest, 1});
  return numbers;
}

enum class Where : std::uint8_t { everywhere, nearby };

/// `terms` with the numbers that leave the least sum of squares, everywhere or near those that it has.
MessageTerms searched(const MessageTerms& terms, const std::vector<Searched>& numbers, const TimedMessages& messages,
                      Where where) {
  const auto terms_at = [&](const Place& place) {
    MessageTerms at = terms;
    for (std::size_t i = 0; i < numbers.size(); ++i) at.*numbers[i].value = numbers[i].at(place[i]);
    return at;
  };
  const Residuals residuals = [&](const Place& place) { return messages.residuals(terms_at(place)); };
  Place start;
  for (const Searched& number : numbers) start.push_back(number.place_of(terms.*number.value));
  return terms_at(where == Where::everywhere ? search_everywhere(residuals, start)
                                             : search_nearby(residuals, start, start));
}

/// Terms of both.
struct Tried {
  FittedMessages fitted;
  double left = 0;  ///< over: the geometric mean of both sums of squares, since each has noise of its own
};

/// A window that is never full is none.
bool possible(const MessageTerms& terms) {
  return terms.window < 2 * (terms.latency + terms.overhead) * terms.bandwidth;
}

class Fit {
 public:
  Fit(const TimedMessages& pair, const TimedMessages& all, double overhead) : pair_(pair), all_(all) {
    MessageTerms terms;
    terms.overhead = overhead;
    best_.fitted = {with_line(terms, pair), with_line(terms, all)};
    best_.left = left_by(best_.fitted);
  }

  FittedMessages found() {
    while (!straight() && add_one()) {
    }
    prefer_middle();
    return best_.fitted;
  }

 private:
  Tried tried(const MessageTerms& terms, Where where) const {
    Tried one;
    one.fitted.pair = searched(terms, all_numbers(terms, pair_), pair_, where);
    one.fitted.all = searched(one.fitted.pair, crowded_numbers_of(one.fitted.pair), all_, where);
    one.left = left_by(one.fitted);
    return one;
  }
  /// What windows limit shows little of the wire: the one of a pair, or nearly.
  std::vector<Searched> crowded_numbers_of(const MessageTerms& pair) const {
    constexpr double near = 2;
    std::vector<Searched> numbers = crowded_numbers(pair, all_);
    for (Searched& number : numbers) {
      if (pair.window > 0 && number.value == &MessageTerms::bandwidth)
        number = {number.value, pair.bandwidth / near, pair.bandwidth * near};
    }
    return numbers;
  }
  /// Half a percent each is as good as nothing.
  double left_by(const FittedMessages& fitted) const {
    constexpr double nothing = 0.005 * 0.005;
    const auto left = [](const MessageTerms& terms, const TimedMessages& messages) {
      return sum_of_squares(terms, messages) + nothing * static_cast<double>(messages.sizes.size());
    };
    return std::sqrt(left(fitted.pair, pair_) * left(fitted.all, all_));
  }

  bool straight() const {
    constexpr double close = 0.005;
    const auto off = [](double residual) { return std::abs(residual) >= close; };
    return std::ranges::none_of(pair_.residuals(best_.fitted.pair), off) &&
           std::ranges::none_of(all_.residuals(best_.fitted.all), off);
  }

  bool add_one() {
    Tried next = best_;
    for (const MessageTerms& terms : with_one_more(best_.fitted.pair, pair_.sizes)) {
      const Tried one = tried(terms, Where::nearby);
      if (cost(one) < cost(next) && possible(one.fitted.pair)) next = one;
    }
    const Tried better = tried(next.fitted.pair, Where::everywhere);
    if (better.left < next.left && possible(better.fitted.pair)) next = better;
    if (next.left >= std::min(most_left, left_by_chance(next)) * best_.left) return false;
    best_ = next;
    return true;
  }

  /// Unless it shows where between two sizes the limit of announcements is, it is taken to be half way.
  void prefer_middle() {
    constexpr double hardly_more = 1.25;
    MessageTerms terms = best_.fitted.pair;
    if (terms.handshake == 0) return;
    terms.handshake_size = half_way_to(first_announced(terms, pair_.sizes), pair_.sizes);
    const Tried middle = tried(terms, Where::nearby);
    if (middle.left <= hardly_more * best_.left) best_ = middle;
  }

  /// Of two that explain as much the simpler one costs less.
  double cost(const Tried& one) const {
    const MessageTerms& terms = one.fitted.pair;
    const int mechanisms = static_cast<int>(terms.handshake > 0) + static_cast<int>(terms.window > 0) +
                           static_cast<int>(terms.burst > 0) + static_cast<int>(terms.chunk > 0) +
                           static_cast<int>(terms.connections > 1);
    return one.left / std::pow(most_left, mechanisms);
  }
  /// The share of what is left over to which two parameters more bring it by chance in one of twenty cases, if there
  /// are so many then: an F test, 5 % ^ (2 / (measurements − parameters)).
  double left_by_chance(const Tried& one) const {
    constexpr double by_chance = 0.05;
    const MessageTerms& terms = one.fitted.pair;
    const std::size_t sizes =
        (terms.handshake > 0 ? 1 : 0) + (terms.connections > 1 ? 1 : 0) + (terms.chunk > 0 ? 1 : 0);
    const std::size_t parameters = all_numbers(terms, pair_).size() + crowded_numbers(terms, all_).size() + sizes;
    const double free = static_cast<double>(pair_.sizes.size() + all_.sizes.size()) - static_cast<double>(parameters);
    return free > 0 ? std::pow(by_chance, 2 / free) : 0;
  }

  /// What one mechanism more must leave at most of what is left over.
  static constexpr double most_left = 0.7;

  const TimedMessages& pair_;
  const TimedMessages& all_;
  Tried best_;
};

}  // namespace

std::vector<double> TimedMessages::residuals(const MessageTerms& terms) const {
  std::vector<double> off;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    off.push_back(seconds_of(terms, sizes[i].amount, trains[i]) / sizes[i].seconds - 1);
  return off;
}

MessageTerms fit_crowded(const MessageTerms& terms, const TimedMessages& messages) {
  return plain(terms) ? with_line(terms, messages)
                      : searched(terms, crowded_numbers(terms, messages), messages, Where::everywhere);
}

FittedMessages fit_messages(const TimedMessages& pair, const TimedMessages& all, double overhead) {
  for (const TimedMessages* messages : {&pair, &all}) {
    for (const TimedAmount& size : messages->sizes) ensure(size.seconds > 0, "a measured time must be above 0");
  }
  return Fit(pair, all, overhead).found();
}

}  // namespace trigram
