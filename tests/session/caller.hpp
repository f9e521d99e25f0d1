// What a program of another language does with the session library, in C++: every rank is a thread, and all goes
// through the functions of C.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "python/session/surface.hpp"

namespace trigram::testing {

using Flags = std::map<std::string, std::string>;

/// Calls `body` on a thread for each rank, and returns when all have ended. The first error is rethrown.
void on_ranks(int ranks, const std::function<void()>& body);

/// Throws the library's message where a call has failed; UsageError where the user can fix it.
void succeed(int status);
/// The message of a call that fails. Throws where it does not.
std::string message_of(int status);
nlohmann::json reply();
/// Makes the call on a thread that ends before this returns, as hooks come from threads of their own. Throws as
/// `succeed`.
void on_another_thread(const std::function<int()>& call);

/// The flags of a job of so many ranks.
Flags job_of(int ranks, Flags more = {});

/// What the loop of a rank computes, the same for all elements of a parameter: whole, and small.
inline float gradient_of(int rank, int step, int parameter) {
  return static_cast<float>(1 + (3 * rank + 5 * step + 7 * parameter) % 11);
}

/// A rank's session and the model that it trains: parameters whose weights and gradients lie in its buckets.
class CalledSession {
 public:
  /// Opens it. `counts`: elements of each parameter.
  CalledSession(const Flags& flags, std::vector<int> counts, bool loop_updates = true);
  ~CalledSession() { trigram_close(session_); }
  CalledSession(const CalledSession&) = delete;
  CalledSession& operator=(const CalledSession&) = delete;

  operator Session*() const { return session_; }  // NOLINT(google-explicit-constructor): it is what C is given
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int parameters() const { return static_cast<int>(counts_.size()); }
  int adopt();
  /// Before `adopt`: weights are rank 0's.
  int share_weights();

  float* weights(int parameter) { return weights_.data() + begins_.at(static_cast<std::size_t>(parameter)); }
  float* gradients(int parameter) { return gradients_.data() + begins_.at(static_cast<std::size_t>(parameter)); }
  int count(int parameter) const { return counts_.at(static_cast<std::size_t>(parameter)); }
  const std::vector<float>& all_weights() const { return weights_; }
  void put_weights(const std::vector<float>& weights) { weights_ = weights; }
  /// From now on the loop steps along gradients of its own, and the session's are NaN.
  void hide_gradients() { hides_gradients_ = true; }
  /// Before `adopt`: the loop steps weights of its own, and the session's are NaN.
  void hide_weights() { hidden_weights_.assign(weights_.size(), std::nanf("")); }
  const std::vector<float>& hidden_weights() const { return hidden_weights_; }

  /// A step of plain SGD, each moment on a thread of its own: gradients become ready in an order that the step decides.
  void step(int step, double learning_rate);

 private:
  Session* session_ = nullptr;
  int rank_ = 0, ranks_ = 0;
  bool loop_updates_;
  bool hides_gradients_ = false;
  std::vector<float> hidden_weights_;  ///< what the session has in place of weights, if not empty
  std::vector<int> counts_;
  std::vector<std::size_t> begins_;  ///< by parameter
  std::vector<float> weights_, gradients_;
};

}  // namespace trigram::testing
