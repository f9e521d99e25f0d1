// Two processes, each in a network namespace of its own where one is named, with a pipe either way.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace trigram::tests {

/// What a process reads from the other one, and writes to it.
class Pipes {
 public:
  Pipes(int in, int out) : in_(in), out_(out) {}
  /// Whole, or the process ends: the other one is gone.
  void write(const void* bytes, std::size_t size) const;
  void read(void* bytes, std::size_t size) const;

 private:
  int in_;
  int out_;
};

using Role = std::function<void(const Pipes&)>;

/// Runs both until they are over; what they print is seen. 0 if both ended well. An empty namespace is the caller's.
int run_two(const Role& one, const std::string& namespace_of_one, const Role& other,
            const std::string& namespace_of_other);

/// Seconds of a processor that this process has used.
double processor_seconds();

}  // namespace trigram::tests
