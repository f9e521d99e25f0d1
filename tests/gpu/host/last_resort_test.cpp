// A process that misses its deadline ends, and only then.
#include "processes/last_resort.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/values/error.hpp"
#include "processes/child_process.hpp"

namespace trigram::gpu {
namespace {

Bytes run_beside(const std::function<void(LastResort&)>& body) {
  ChildProcess child("the child", [&](HomeLine& home) {
    LastResort last_resort;
    body(last_resort);
    home.send_result(bytes_of("went on"));
  });
  while (!child.ended()) child.read_some();
  return child.result();
}

TEST(LastResort, EndsAProcessThatMissesItsDeadline) {
  EXPECT_THROW(run_beside([](LastResort& last_resort) {
                 last_resort.expect_within(0.05, "the test's child is late, as it should be");
                 while (true) pause();
               }),
               BackendError);
}

TEST(LastResort, LetsOneGoThatMovesItOrRests) {
  EXPECT_EQ(text_of(run_beside([](LastResort& last_resort) {
              last_resort.expect_within(1, "too late");
              last_resort.expect_within(600, "much too late");
              std::this_thread::sleep_for(std::chrono::milliseconds(1300));
              last_resort.expect_within(1, "too late");
              last_resort.rest();
              std::this_thread::sleep_for(std::chrono::milliseconds(1300));
            })),
            "went on");
}

}  // namespace
}  // namespace trigram::gpu
