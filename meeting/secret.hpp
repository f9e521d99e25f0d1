// What the processes of one job know and strangers do not, and how a process proves that it knows it.
#pragma once

#include <filesystem>
#include <string>

#include "meeting/member.hpp"
#include "meeting/store/store.hpp"

namespace trigram {

/// Bytes that nobody can guess.
Bytes random_bytes(std::size_t count);
/// As many, written as hexadecimal digits: two a byte.
std::string random_digits(std::size_t count);

/// A text that is never sent. A process proves that it knows it by a MAC (HMAC-SHA256) over a message that the other
/// end has a part in.
class Secret {
 public:
  static constexpr std::size_t proof_bytes = 32;
  /// What somebody could guess is none.
  static constexpr std::size_t shortest = 16;

  /// The member's own, or, where the user gave none, the one of its file, which is made where there is none yet. Throws
  /// UsageError for one that is too short, and for a file that others can read or that cannot be made.
  static Secret of(const Member& member);
  /// `origin` is for messages: where the text comes from.
  Secret(std::string text, std::string origin);

  Bytes proof(const Bytes& message) const;
  /// In a time that does not depend on where a wrong proof differs.
  bool proves(const Bytes& proof, const Bytes& message) const;
  /// "TRIGRAM_SECRET", "/…/trigram/secret".
  const std::string& origin() const { return origin_; }

 private:
  std::string text_;
  std::string origin_;
};

}  // namespace trigram
