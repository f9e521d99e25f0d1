#include "core/training/carried_error.hpp"

#include "core/values/error.hpp"

namespace trigram {

CarriedError CarriedError::of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& usage) {
    return {Type::usage_error, usage.what()};
  } catch (const BackendError& backend) {
    return {Type::backend_error, backend.what()};
  } catch (const std::exception& other) {
    return {Type::error, other.what()};
  } catch (...) {
    return {Type::error, "something that is no std::exception was thrown"};
  }
}

CarriedError CarriedError::from(const std::vector<std::byte>& packed) {
  ensure(!packed.empty() && packed.front() <= std::byte{static_cast<unsigned char>(Type::backend_error)},
         "an error of " + std::to_string(packed.size()) + " bytes came from another process and cannot be read");
  const auto* text = reinterpret_cast<const char*>(packed.data());
  return {static_cast<Type>(packed.front()), std::string(text + 1, text + packed.size())};
}

std::vector<std::byte> CarriedError::packed() const {
  std::vector<std::byte> bytes{static_cast<std::byte>(type_)};
  for (const char character : text_) bytes.push_back(static_cast<std::byte>(character));
  return bytes;
}

void CarriedError::rethrow() const {
  if (type_ == Type::usage_error) throw UsageError(text_);
  if (type_ == Type::backend_error) throw BackendError(text_);
  throw Error(text_);
}

}  // namespace trigram
