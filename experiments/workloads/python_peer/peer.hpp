// The process that computes gradients for this program: a Python that started it, with a model of its own.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/step/bucket.hpp"

namespace trigram {

/// Questions are lines of JSON on a socket, each answered by one, in any of this program's forked processes, one at a
/// time. Tensors lie in memory that both processes have mapped: the weights of all parameters in their order, then
/// the gradients; then, where the algorithm is Python's, both again in the order of buckets. What is of another size
/// follows a line as so many bytes as its "bytes" says. Socket and memory are descriptors that the Python leaves open
/// and names in TRIGRAM_PEER, as "5,6".
class Peer {
 public:
  /// What it says of its model.
  struct Model {
    std::vector<Parameter> parameters;  ///< in forward order, a layer each
    std::int64_t local_batch = 0;       ///< samples a step on each rank
    std::int64_t accumulate = 1;        ///< micro-batches of a step
    std::string description;
    bool has_algorithm = false;  ///< of its own
    bool keeps_state = false;    ///< buffers, or an optimizer: what is from one step to the next beside weights
  };

  /// Connected at the first call, for as long as the process lives. Throws UsageError where no Python started it.
  static Peer& of_this_process();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const Model& model() const { return model_; }
  /// Elements of all parameters.
  std::size_t count() const { return count_; }
  /// Where a parameter begins among the elements.
  std::size_t begin(std::size_t parameter) const { return begins_[parameter]; }
  /// Of all parameters, as the next question means them and the last answer left them.
  std::span<float> weights() { return {memory_, count_}; }
  std::span<float> gradients() { return {memory_ + count_, count_}; }
  /// The same of one parameter.
  std::span<float> weights(std::size_t parameter) { return of(weights(), parameter); }
  std::span<float> gradients(std::size_t parameter) { return of(gradients(), parameter); }
  /// What buckets hold, of the rank that asks.
  std::span<float> bucket_weights() { return {memory_ + 2 * count_, count_}; }
  std::span<float> bucket_gradients() { return {memory_ + 3 * count_, count_}; }
  /// Throws UsageError where that Python has none.
  void require_algorithm() const;
  /// Throws BackendError when the other process is gone.
  nlohmann::json ask(const nlohmann::json& question);
  /// The same where bytes go with the question, and come with the answer, in their place.
  nlohmann::json ask(nlohmann::json question, std::string& bytes);

 private:
  Peer();
  void send(std::string_view text) const;
  std::string receive_line();
  std::string receive_bytes(std::size_t count);
  void receive_more();
  void map_memory(int descriptor);
  std::span<float> of(std::span<float> all, std::size_t parameter) const {
    return all.subspan(begins_[parameter], static_cast<std::size_t>(model_.parameters[parameter].count));
  }

  int socket_ = -1;
  std::string received_;  ///< and not read yet
  Model model_;
  std::vector<std::size_t> begins_;
  std::size_t count_ = 0;
  float* memory_ = nullptr;
};

}  // namespace trigram
