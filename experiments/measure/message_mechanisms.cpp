#include "experiments/measure/message_mechanisms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trigram {
namespace {

class Mechanisms {
 public:
  Mechanisms(const MessageTerms& terms, std::span<const TimedAmount> sizes) : terms_(terms), sizes_(sizes) {}

  std::vector<MessageTerms> all() {
    const bool one_path = terms_.chunk == 0;
    add_handshakes();
    if (terms_.window == 0 && one_path) add_windows();
    if (terms_.burst == 0 && one_path) add_bursts();
    if (terms_.window == 0 && terms_.burst == 0 && one_path) add_paths();
    if (terms_.window > 0 && terms_.handshake > 0) add_connections();
    return std::move(all_);
  }

 private:
  void add_handshakes() {
    for (std::size_t first = fewest; first + fewest <= sizes_.size(); ++first) add_handshake(terms_, first);
  }

  /// Two sizes at least are not announced, and two are. Where a question takes as much along, it matters where between
  /// two measured sizes the limit is.
  static constexpr std::size_t fewest = 2;
  void add_handshake(MessageTerms terms, std::size_t first) {
    if (terms.handshake == 0) terms.handshake = 2 * terms.latency;
    terms.handshake_size = half_way_to(first, sizes_);
    all_.push_back(terms);
    if (!terms.eager) return;
    for (const double limit : {sizes_[first - 1].amount, sizes_[first].amount - 1}) {
      terms.handshake_size = limit;
      all_.push_back(terms);
    }
  }

  /// What was found before, with less, may be two sizes off.
  void add_near_handshakes(const MessageTerms& terms) {
    constexpr std::size_t near = 2;
    const std::size_t found = first_announced(terms, sizes_);
    for (std::size_t first = fewest; first + fewest <= sizes_.size(); ++first) {
      if (terms.handshake == 0 || (first + near >= found && first <= found + near)) add_handshake(terms, first);
    }
  }

  /// With an announcement, over one connection or several, or without. In a round trip the windows of all pass, as the
  /// longest message shows.
  void add_windows() {
    MessageTerms terms = terms_;
    const double all = sizes_.back().amount / sizes_.back().seconds * 2 * sizes_.front().seconds;
    for (const double wider : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.4, 1.7}) {
      for (terms.connections = 1; terms.connections <= most_connections; terms.connections *= 2) {
        terms.window = std::max(1.0, wider * all / terms.connections);
        terms.eager = true;
        add_near_handshakes(terms);
      }
      terms.connections = 1;
      terms.window = std::max(1.0, wider * all);
      terms.eager = false;
      add_near_handshakes(terms);
      all_.push_back(terms);
    }
  }

  /// Most of what was measured is longer than a burst. The wire may have been taken for faster by so much.
  void add_bursts() {
    constexpr double longer = 2, longest = 0.25;
    MessageTerms terms = terms_;
    for (terms.burst = sizes_[1].amount; terms.burst < longest * sizes_.back().amount; terms.burst *= longer) {
      for (const double slower : {1.0, 0.5}) {
        terms.bandwidth = slower * terms_.bandwidth;
        for (const double faster : {2.0, 10.0, 50.0}) {
          terms.line_rate = faster * terms.bandwidth;
          all_.push_back(terms);
        }
      }
    }
  }

  void add_paths() {
    constexpr double least_chunk = 4096, slowest = 0.02, apart = 1.5;
    MessageTerms terms = terms_;
    for (terms.chunk = least_chunk; 2 * terms.chunk < sizes_.back().amount; terms.chunk *= 2) {
      for (terms.slower = 1; terms.slower > slowest; terms.slower /= apart) all_.push_back(terms);
    }
  }

  void add_connections() {
    MessageTerms terms = terms_;
    terms.eager = true;
    for (terms.connections = 1; terms.connections <= most_connections; ++terms.connections) {
      for (const double of_before : {0.3, 0.5, 0.7, 1.0, 1.4, 2.0}) {
        terms.window = of_before * terms_.window;
        add_near_handshakes(terms);
      }
    }
  }

  static constexpr int most_connections = 8;

  const MessageTerms& terms_;
  std::span<const TimedAmount> sizes_;
  std::vector<MessageTerms> all_;
};

}  // namespace

std::vector<MessageTerms> with_one_more(const MessageTerms& terms, std::span<const TimedAmount> sizes) {
  return Mechanisms(terms, sizes).all();
}

std::size_t first_announced(const MessageTerms& terms, std::span<const TimedAmount> sizes) {
  const auto is_announced = [&](const TimedAmount& size) { return size.amount > terms.handshake_size; };
  return static_cast<std::size_t>(std::ranges::find_if(sizes, is_announced) - sizes.begin());
}

double half_way_to(std::size_t first, std::span<const TimedAmount> sizes) {
  return std::sqrt(sizes[first - 1].amount * sizes[first].amount);
}

}  // namespace trigram
