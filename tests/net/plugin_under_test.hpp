// The plugin that cases run on, and connections of it inside one process.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/net/loaded_plugin.hpp"

namespace trigram::tests {

/// As load_plugin has it: of the flag --plugin, else the one that this build made.
const std::string& plugin_under_test();
void set_plugin_under_test(const std::string& what);

/// For cases about what NCCL does not ask of a plugin, and ours promises: its words, its bounds, its care.
#define SKIP_UNLESS_OURS() \
  if (!is_ours(plugin_under_test())) GTEST_SKIP() << "only our plugin promises that"
bool is_ours(const std::string& what);

using HandleOfTest = std::array<std::byte, net::abi::handle_bytes>;

/// Calls it again and again, for a minute at most.
testing::AssertionResult soon(const std::function<bool()>& is_so);

/// A variable of the environment, for a while.
class Variable {
 public:
  Variable(const char* name, const char* value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Both ends in this process, with a use of the plugin each.
class Connected {
 public:
  Connected();
  explicit Connected(LoadedPlugin& plugin);
  ~Connected();

  LoadedPlugin& plugin() { return *plugin_; }
  void* sender() const { return sender_; }
  void* receiver() const { return receiver_; }

  /// Requests, which must be taken within a minute.
  void* send(const void* data, std::size_t size, int tag = 0);
  void* receive(void* data, std::size_t size, int tag = 0);
  void* receive_group(std::vector<void*> data, std::vector<std::size_t> sizes, std::vector<int> tags);
  /// Whether it is over now.
  bool over(void* request, int* sizes = nullptr);
  /// Waits for it, and for nothing else. The size, or those of a group.
  int wait(void* request);
  std::vector<int> wait_group(void* request, std::size_t count);
  /// Both, which may need each other.
  int wait_both(void* send, void* receive);

  void close_sender();
  void close_receiver();

 private:
  void connect();

  std::unique_ptr<LoadedPlugin> own_;
  LoadedPlugin* plugin_;
  void* listener_ = nullptr;
  void* sender_ = nullptr;
  void* receiver_ = nullptr;
};

/// Bytes that tell where they belong.
std::vector<std::byte> pattern(std::size_t size, unsigned seed);

/// What the program does as a peer of another one, whose handle it reads: it sends a megabyte of the pattern 6 again
/// and again.
int send_for_ever();

}  // namespace trigram::tests
