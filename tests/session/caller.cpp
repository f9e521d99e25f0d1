#include "tests/session/caller.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include "core/values/error.hpp"

namespace trigram::testing {
namespace {

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

nlohmann::json settings_of(const Flags& flags, const std::vector<int>& counts, bool loop_updates) {
  nlohmann::json parameters = nlohmann::json::array();
  for (std::size_t i = 0; i < counts.size(); ++i)
    parameters.push_back({{"name", "p" + std::to_string(i)}, {"count", counts[i]}, {"dimensions", {counts[i]}}});
  return {{"flags", flags}, {"parameters", parameters}, {"loop_updates", loop_updates}};
}

/// Each of 0 … count − 1 once, in an order that `turn` decides.
std::vector<int> shuffled(int count, int turn) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + turn % count, order.end());
  if (turn % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

void on_another_thread(const std::function<int()>& call) {
  std::exception_ptr error;
  std::thread([&] {
    try {
      succeed(call());
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error != nullptr) std::rethrow_exception(error);
}

void on_ranks(int ranks, const std::function<void()>& body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  for (std::exception_ptr& error : errors) {
    threads.emplace_back([&] {
      try {
        body();
      } catch (...) {
        error = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

void succeed(int status) {
  if (status == 2) throw UsageError(trigram_reply());
  ensure(status == 0, trigram_reply());
}

std::string message_of(int status) {
  ensure(status != 0, "the call succeeded");
  return trigram_reply();
}

nlohmann::json reply() { return nlohmann::json::parse(trigram_reply()); }

Flags job_of(int ranks, Flags more) {
  more.emplace("backend", "shared_threads:ranks=" + std::to_string(ranks));
  return more;
}

CalledSession::CalledSession(const Flags& flags, std::vector<int> counts, bool loop_updates)
    : loop_updates_(loop_updates), counts_(std::move(counts)), begins_(counts_.size()) {
  succeed(trigram_open(settings_of(flags, counts_, loop_updates).dump().c_str(), &session_));
  const nlohmann::json answer = reply();
  rank_ = answer.at("rank");
  ranks_ = answer.at("ranks");
  std::size_t end = 0;
  for (const nlohmann::json& bucket : answer.at("order")) {
    for (const std::size_t parameter : bucket.get<std::vector<std::size_t>>()) {
      begins_.at(parameter) = end;
      end += static_cast<std::size_t>(counts_.at(parameter));
    }
  }
  weights_.resize(end);
  gradients_.resize(end);
}

int CalledSession::adopt() {
  std::vector<std::uint64_t> weights, gradients;
  const std::vector<float>& shown = hidden_weights_.empty() ? weights_ : hidden_weights_;
  for (int i = 0; i < parameters(); ++i) {
    weights.push_back(address_of(shown.data() + begins_.at(static_cast<std::size_t>(i))));
    gradients.push_back(address_of(this->gradients(i)));
  }
  const std::vector<std::int64_t> counts(counts_.begin(), counts_.end());
  return trigram_adopt(session_, weights.data(), gradients.data(), counts.data(), parameters());
}

int CalledSession::share_weights() {
  const auto bytes = static_cast<std::int64_t>(weights_.size() * sizeof(float));
  return trigram_share(session_, address_of(weights_.data()), bytes, 0);
}

void CalledSession::step(int step, double learning_rate) {
  succeed(trigram_begin(session_, learning_rate));
  std::vector<float> own(gradients_.size());
  for (const int parameter : shuffled(parameters(), step + rank_)) {
    const float gradient = gradient_of(rank_, step, parameter);
    std::fill_n(own.begin() + (gradients(parameter) - gradients_.data()), count(parameter), gradient);
    std::fill_n(gradients(parameter), count(parameter), hides_gradients_ ? std::nanf("") : gradient);
    const bool told_of = step % 3 != 2 || parameter > 0;
    if (told_of) on_another_thread([&] { return trigram_tensor_ready(session_, parameter); });
  }
  succeed(trigram_gradients_end(session_));
  if (loop_updates_) {
    const std::vector<float>& along = hides_gradients_ ? own : gradients_;
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] -= static_cast<float>(learning_rate) * along[i];
  }
  on_another_thread([&] { return trigram_end(session_); });
}

}  // namespace trigram::testing
