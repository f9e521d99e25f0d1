// Errors keep their type and text on the way to another process.
#include "core/training/carried_error.hpp"

#include <gtest/gtest.h>

#include "core/values/error.hpp"

namespace trigram {
namespace {

template <class Thrown>
CarriedError carried(const Thrown& error) {
  return CarriedError::from(CarriedError::of(std::make_exception_ptr(error)).packed());
}

template <class Expected>
void expect_rethrown(const CarriedError& error, const std::string& text) {
  try {
    error.rethrow();
  } catch (const std::exception& caught) {
    EXPECT_EQ(typeid(caught), typeid(Expected));
    EXPECT_EQ(caught.what(), text);
  }
}

TEST(CarriedError, KeepsTypeAndText) {
  expect_rethrown<UsageError>(carried(UsageError("seven is too many")), "seven is too many");
  expect_rethrown<BackendError>(carried(BackendError("the wire broke")), "the wire broke");
  expect_rethrown<Error>(carried(Error("")), "");
  expect_rethrown<Error>(carried(std::out_of_range("index 3")), "index 3");
}

TEST(CarriedError, RefusesBytesThatAreNoError) {
  EXPECT_THROW(CarriedError::from({}), Error);
  EXPECT_THROW(CarriedError::from({std::byte{9}}), Error);
}

}  // namespace
}  // namespace trigram
