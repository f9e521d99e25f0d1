#include "meeting/secret.hpp"

#include <fcntl.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

const std::uint8_t* octets(const void* data) { return static_cast<const std::uint8_t*>(data); }

[[noreturn]] void refuse_file(const fs::path& file, const std::string& reason) {
  throw UsageError("the secret of " + in_quotes(file.string()) + " cannot be used: " + reason +
                   "; mend that, or set TRIGRAM_SECRET to one text in all processes of the job");
}

/// The file's text; nothing where there is no file.
std::optional<std::string> read_private(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == ENOENT) return std::nullopt;
  if (descriptor < 0) refuse_file(file, std::strerror(errno));
  struct stat facts {};
  std::array<char, 4096> text{};
  const bool known = fstat(descriptor, &facts) == 0;
  const ssize_t got = read(descriptor, text.data(), text.size());
  close(descriptor);
  if (!known || got < 0 || !S_ISREG(facts.st_mode)) refuse_file(file, "it is no file that can be read");
  if (facts.st_uid != geteuid()) refuse_file(file, "it belongs to somebody else");
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) refuse_file(file, "others may read or write it; chmod 600");
  return std::string(text.data(), static_cast<std::size_t>(got));
}

/// Appears whole, and never instead of another process's.
void make_private(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path draft = file.string() + ".draft-" + random_digits(8);
  const int descriptor = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) refuse_file(file, std::string("it cannot be made: ") + std::strerror(errno));
  const bool whole = write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = close(descriptor) == 0;
  const bool there = whole && closed && (link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST);
  const int reason = errno;
  unlink(draft.c_str());
  if (!there) refuse_file(file, std::string("it cannot be made: ") + std::strerror(reason));
}

}  // namespace

Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  std::size_t drawn = 0;
  while (drawn < count) {
    const ssize_t got = getrandom(&bytes[drawn], count - drawn, 0);
    if (got < 0 && errno != EINTR) throw BackendError(std::string("no random numbers: ") + std::strerror(errno));
    drawn += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return bytes;
}

std::string random_digits(std::size_t count) {
  constexpr const char* digits = "0123456789abcdef";
  constexpr unsigned base = 16;
  std::string text;
  for (const std::byte byte : random_bytes(count)) {
    text += digits[std::to_integer<unsigned>(byte) / base];
    text += digits[std::to_integer<unsigned>(byte) % base];
  }
  return text;
}

Secret::Secret(std::string text, std::string origin) : text_(std::move(text)), origin_(std::move(origin)) {
  require(text_.size() >= shortest, "the secret of " + origin_ + " has " + std::to_string(text_.size()) +
                                        " characters, which can be guessed; use " + std::to_string(shortest) +
                                        " or more, as 'openssl rand -hex 32' prints");
}

Secret Secret::of(const Member& member) {
  if (!member.secret.empty()) return {member.secret, "TRIGRAM_SECRET"};
  const fs::path file = member.secret_file;
  require(!file.empty(), "rank " + std::to_string(member.rank) +
                             " has no secret by which the others could know it, and neither HOME nor XDG_STATE_HOME "
                             "says where to keep one; set TRIGRAM_SECRET to one text in all processes of the job");
  std::optional<std::string> text = read_private(file);
  if (!text) {
    constexpr std::size_t bytes = 32;
    make_private(file, random_digits(bytes));
    text = read_private(file);
  }
  return {text.value_or(""), printable(file.string())};
}

Bytes Secret::proof(const Bytes& message) const {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, text_.size(), octets(text_.data()));
  hmac_sha256_update(&context, message.size(), octets(message.data()));
  std::array<std::uint8_t, proof_bytes> digest;
  hmac_sha256_digest(&context, digest.size(), digest.data());
  const auto bytes = std::as_bytes(std::span(digest));
  return {bytes.begin(), bytes.end()};
}

bool Secret::proves(const Bytes& proof, const Bytes& message) const {
  const Bytes right = this->proof(message);
  return proof.size() == right.size() && memeql_sec(proof.data(), right.data(), right.size()) != 0;
}

}  // namespace trigram
