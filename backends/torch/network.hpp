// A network that another library owns: torch.distributed, reached by functions of the Python that loaded this library.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace trigram::torch {

/// One message of an exchange, as C lays it out.
struct Message {
  std::int64_t receives;  ///< 1, or 0 where it is sent
  std::int64_t peer;      ///< among all ranks
  std::int64_t tag;       ///< messages of a lane and pair match by it and, with the same one, in their order
  std::uint64_t address;
  std::int64_t bytes;
};

/// What went wrong with the messages of one exchange.
struct TransferError {
  int message;       ///< its place among them
  std::string text;  ///< in the network's words
};

/// The functions; any thread may call them. They outlive every rank that uses them.
struct Network {
  /// Question and answer are texts of JSON. Gives 0, or, with why in `text`, 1, and 2 where the user can mend it.
  using Ask = int (*)(const char* question, char* text, int room);
  /// On a lane of those connections. Returns when all messages have ended: -1, or the place of one that failed or took
  /// longer than `seconds` (0: forever), with why in `text`.
  using Carry = int (*)(int connections, int lane, const Message* messages, int count, double seconds, char* text,
                        int room);

  /// The same, but each message by itself: says of each whether it failed, 1 or 0.
  using CarryEach = void (*)(int connections, int lane, const Message* messages, int count, double seconds,
                             std::int64_t* failed);

  Ask ask_in_c = nullptr;
  Carry carry_in_c = nullptr;
  CarryEach carry_each_in_c = nullptr;  ///< or none
  /// Whether a message whose receive has another size is an error that the network tells; torch.distributed ends the
  /// process where it is too large.
  bool tells_unequal_sizes = false;

  /// Throws UsageError or BackendError with the reason where there is no answer.
  nlohmann::json ask(const nlohmann::json& question) const;
  /// Carries all messages of a lane together. `text` is empty where all is well.
  TransferError carry(int connections, int lane, std::span<const Message> messages, double seconds) const;
  /// The places of those that failed.
  std::vector<std::size_t> carry_each(int connections, int lane, std::span<const Message> messages,
                                      double seconds) const;
};

/// Of the backends that this thread makes from now on.
void use_network(const Network& network);
/// Throws UsageError where nobody has brought one.
const Network& network_in_use();

}  // namespace trigram::torch
