#include "meeting/handshake.hpp"

#include <algorithm>
#include <sstream>

#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr std::size_t nonce_bytes = 32;
constexpr std::uint64_t longest = 16384;
const std::string connecting = "rank";
const std::string listening = "rank 0";

const Bytes& protocol() {
  static const Bytes name = bytes_of("trigram-rendezvous-2\n");
  return name;
}

Bytes joined(const Bytes& first, const Bytes& second) {
  Bytes both = first;
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

Bytes front(const Bytes& bytes, std::size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(count, bytes.size()))};
}

Bytes behind(const Bytes& bytes, std::size_t count) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(std::min(count, bytes.size())), bytes.end()};
}

Bytes next_frame(Socket& socket) {
  Bytes frame;
  if (!socket.read_frame(frame, longest)) throw BackendError("it hangs up");
  return frame;
}

/// The nonce behind the protocol's name; empty where the frame is something else.
Bytes nonce_in(const Bytes& frame) {
  const bool ours = frame.size() == protocol().size() + nonce_bytes && front(frame, protocol().size()) == protocol();
  return ours ? behind(frame, protocol().size()) : Bytes();
}

Bytes message_of(const Introduction& own) {
  return bytes_of(std::to_string(own.rank) + "\n" + std::to_string(own.ranks) + "\n" + own.job);
}

Introduction introduction_in(const Bytes& bytes) {
  std::istringstream text(text_of(bytes));
  Introduction other;
  text >> other.rank >> other.ranks;
  text.ignore(1);
  std::getline(text, other.job, '\0');
  return other;
}

}  // namespace

/// What a proof is about.
Bytes Handshake::message(const std::string& speaker, const Bytes& text) const {
  return joined(joined(protocol(), bytes_of(speaker + "\n")), joined(nonces_, text));
}

void Handshake::introduce(Socket& socket, const Introduction& own, const std::string& there) {
  const Bytes nonce = random_bytes(nonce_bytes);
  socket.write_frame(joined(protocol(), nonce));
  const Bytes others = nonce_in(next_frame(socket));
  require(!others.empty(), "what listens at " + there + " is no rank 0 of this version of Trigram");
  nonces_ = joined(nonce, others);
  const Bytes text = message_of(own);
  socket.write_frame(joined(secret_.proof(message(connecting, text)), text));
  const Bytes answer = next_frame(socket);
  const Bytes refusal = behind(answer, Secret::proof_bytes);
  require(secret_.proves(front(answer, Secret::proof_bytes), message(listening, refusal)),
          "rank " + std::to_string(own.rank) + " and what listens at " + there +
              " do not know one secret (this process has that of " + secret_.origin() +
              "); set TRIGRAM_SECRET to one text in all processes of the job, or is another job using this port?");
  require(refusal.empty(), "rank 0 at " + there + " turns this process, rank " + std::to_string(own.rank) +
                               ", away: " + text_of(refusal));
}

Introduction Handshake::hear(Socket& socket) {
  const Bytes others = nonce_in(next_frame(socket));
  if (others.empty()) throw BackendError("a stranger speaks another protocol");
  const Bytes nonce = random_bytes(nonce_bytes);
  nonces_ = joined(others, nonce);
  socket.write_frame(joined(protocol(), nonce));
  const Bytes frame = next_frame(socket);
  const Bytes text = behind(frame, Secret::proof_bytes);
  if (secret_.proves(front(frame, Secret::proof_bytes), message(connecting, text))) return introduction_in(text);
  socket.write_frame({});
  throw BackendError("a stranger does not know the secret");
}

void Handshake::answer(Socket& socket, const std::string& refusal) const {
  const Bytes text = bytes_of(refusal);
  socket.write_frame(joined(secret_.proof(message(listening, text)), text));
}

}  // namespace trigram
