// Errors between processes: they cross as type and text.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace trigram {

/// What is left of an exception on its way to another process.
class CarriedError {
 public:
  /// Of the exception that is being handled, or that `error` holds.
  static CarriedError of(const std::exception_ptr& error);
  /// From `packed`. Throws Error when the bytes are none of ours.
  static CarriedError from(const std::vector<std::byte>& packed);

  std::vector<std::byte> packed() const;
  const std::string& text() const { return text_; }
  /// Throws what it was: UsageError, BackendError, or Error for everything else.
  [[noreturn]] void rethrow() const;

 private:
  enum class Type : unsigned char { error, usage_error, backend_error };
  CarriedError(Type type, std::string text) : type_(type), text_(std::move(text)) {}

  Type type_;
  std::string text_;
};

}  // namespace trigram
