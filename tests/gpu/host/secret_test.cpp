// What a job's processes know: where it comes from, and that it proves what it should.
#include "meeting/secret.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "core/values/error.hpp"
#include "tests/gpu/host/ranks.hpp"

namespace trigram::gpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const Member& member) {
  try {
    Secret::of(member);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Member without_a_secret(const std::filesystem::path& file) {
  Member member = member_named(1, 2);
  member.secret.clear();
  member.secret_file = file;
  return member;
}

/// RFC 4231, test case 2, with a key of at least the shortest length: test case 6's of 131 bytes.
TEST(Secret, ProvesByHmacSha256) {
  const Secret secret(std::string(131, '\xaa'), "here");
  const Bytes message = bytes_of("Test Using Larger Than Block-Size Key - Hash Key First");
  std::string digits;
  for (const std::byte byte : secret.proof(message)) {
    constexpr const char* hexadecimal = "0123456789abcdef";
    digits += hexadecimal[std::to_integer<unsigned>(byte) / 16];
    digits += hexadecimal[std::to_integer<unsigned>(byte) % 16];
  }
  EXPECT_EQ(digits, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Secret, ProofsHoldForOneSecretAndOneMessage) {
  const Secret ours("0123456789abcdef", "here");
  const Secret theirs("0123456789abcdeF", "there");
  const Bytes proof = ours.proof(bytes_of("hello"));
  EXPECT_TRUE(ours.proves(proof, bytes_of("hello")));
  EXPECT_FALSE(ours.proves(proof, bytes_of("hellO")));
  EXPECT_FALSE(theirs.proves(proof, bytes_of("hello")));
  EXPECT_FALSE(ours.proves({}, bytes_of("hello")));
  EXPECT_FALSE(ours.proves(Bytes(Secret::proof_bytes + 1), bytes_of("hello")));
}

TEST(Secret, RandomTextsDifferAndHaveTheirLength) {
  EXPECT_EQ(random_digits(16).size(), 32u);
  EXPECT_NE(random_digits(16), random_digits(16));
}

TEST(Secret, OneThatCanBeGuessedIsRefused) {
  Member member = member_named(0, 2);
  member.secret = "abc";
  EXPECT_THAT(refusal(member), AllOf(HasSubstr("TRIGRAM_SECRET has 3 characters"), HasSubstr("use 16 or more")));
}

TEST(Secret, IsKeptInAFileForItsUserAlone) {
  const MeetingPlace place;
  const Member member = without_a_secret(place.path() / "trigram" / "secret");
  const Bytes proof = Secret::of(member).proof(bytes_of("hello"));
  EXPECT_TRUE(Secret::of(member).proves(proof, bytes_of("hello"))) << "made anew";
  struct stat facts {};
  ASSERT_EQ(stat(member.secret_file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_EQ(facts.st_size, 64);
}

TEST(Secret, ManyProcessesThatMakeTheFileAtOnceHaveOneSecret) {
  const MeetingPlace place;
  const Member member = without_a_secret(place.path() / "trigram" / "secret");
  std::vector<Bytes> proofs(8);
  const auto errors = errors_of(
      8, [&](int index) { proofs[static_cast<std::size_t>(index)] = Secret::of(member).proof(bytes_of("hello")); });
  EXPECT_THAT(errors, ::testing::Each(::testing::IsEmpty()));
  EXPECT_THAT(proofs, ::testing::Each(proofs.front()));
}

TEST(Secret, AFileThatOthersMayReadIsRefused) {
  const MeetingPlace place;
  std::filesystem::create_directories(place.path());
  const std::filesystem::path file = place.path() / "secret";
  std::ofstream(file) << "0123456789abcdef";
  chmod(file.c_str(), 0644);
  EXPECT_THAT(refusal(without_a_secret(file)),
              AllOf(HasSubstr(file.string()), HasSubstr("chmod 600"), HasSubstr("set TRIGRAM_SECRET")));
  std::filesystem::create_symlink(file, place.path() / "link");
  EXPECT_THAT(refusal(without_a_secret(place.path() / "link")), HasSubstr("cannot be used"));
  EXPECT_THAT(refusal(without_a_secret("/proc/nowhere/secret")), HasSubstr("it cannot be made"));
  EXPECT_THAT(refusal(without_a_secret("")), HasSubstr("neither HOME nor XDG_STATE_HOME"));
}

}  // namespace
}  // namespace trigram::gpu
