#include "tests/net/plugin_under_test.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace trigram::tests {
namespace {

std::string& chosen() {
  static std::string what = TRIGRAM_NET_PLUGIN;
  return what;
}

}  // namespace

const std::string& plugin_under_test() { return chosen(); }
void set_plugin_under_test(const std::string& what) { chosen() = what; }
bool is_ours(const std::string& what) { return what.find("libnccl-net-trigram") != std::string::npos; }

testing::AssertionResult soon(const std::function<bool()>& is_so) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < deadline) {
    if (is_so()) return testing::AssertionSuccess();
    std::this_thread::yield();
  }
  return testing::AssertionFailure() << "not within a minute";
}

Variable::Variable(const char* name, const char* value) : name_(name) {
  if (const char* text = std::getenv(name)) before_ = text;
  setenv(name, value, 1);
}

Variable::~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

Connected::Connected() : own_(load_plugin(plugin_under_test())), plugin_(own_.get()) {
  EXPECT_EQ(plugin_->init(), Result::success);
  connect();
}

Connected::Connected(LoadedPlugin& plugin) : plugin_(&plugin) { connect(); }

void Connected::connect() {
  HandleOfTest handle{};
  EXPECT_EQ(plugin_->listen(handle.data(), &listener_), Result::success);
  EXPECT_TRUE(soon([&] {
    if (!sender_) {
      EXPECT_EQ(plugin_->connect(handle.data(), &sender_), Result::success);
    }
    if (!receiver_) {
      EXPECT_EQ(plugin_->accept(listener_, &receiver_), Result::success);
    }
    return sender_ && receiver_;
  }));
  EXPECT_EQ(plugin_->close_listen(listener_), Result::success);
}

Connected::~Connected() {
  close_sender();
  close_receiver();
  if (own_) {
    EXPECT_EQ(own_->finalize(), Result::success);
  }
}

void Connected::close_sender() {
  if (sender_) {
    EXPECT_EQ(plugin_->close_send(std::exchange(sender_, nullptr)), Result::success);
  }
}

void Connected::close_receiver() {
  if (receiver_) {
    EXPECT_EQ(plugin_->close_receive(std::exchange(receiver_, nullptr)), Result::success);
  }
}

void* Connected::send(const void* data, std::size_t size, int tag) {
  void* request = nullptr;
  EXPECT_TRUE(soon([&] {
    EXPECT_EQ(plugin_->isend(sender_, const_cast<void*>(data), size, tag, &request), Result::success);
    return request != nullptr;
  }));
  return request;
}

void* Connected::receive(void* data, std::size_t size, int tag) { return receive_group({data}, {size}, {tag}); }

void* Connected::receive_group(std::vector<void*> data, std::vector<std::size_t> sizes, std::vector<int> tags) {
  void* request = nullptr;
  EXPECT_TRUE(soon([&] {
    EXPECT_EQ(plugin_->irecv(receiver_, data, sizes, tags, &request), Result::success);
    return request != nullptr;
  }));
  return request;
}

bool Connected::over(void* request, int* sizes) {
  int done = 0;
  EXPECT_EQ(plugin_->test(request, &done, sizes), Result::success);
  return done != 0;
}

int Connected::wait(void* request) {
  int size = -1;
  EXPECT_TRUE(soon([&] { return over(request, &size); }));
  return size;
}

std::vector<int> Connected::wait_group(void* request, std::size_t count) {
  std::vector<int> sizes(count, -1);
  EXPECT_TRUE(soon([&] { return over(request, sizes.data()); }));
  return sizes;
}

int Connected::wait_both(void* send, void* receive) {
  int size = -1;
  EXPECT_TRUE(soon([&] {
    if (receive && over(receive, &size)) receive = nullptr;
    if (send && over(send)) send = nullptr;
    return !send && !receive;
  }));
  return size;
}

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (auto& byte : bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = std::byte(state >> 56);
  }
  return bytes;
}

int send_for_ever() {
  HandleOfTest handle{};
  const auto plugin = load_plugin(plugin_under_test());
  void* sender = nullptr;
  if (read(STDIN_FILENO, handle.data(), handle.size()) != static_cast<ssize_t>(handle.size())) return 1;
  if (plugin->init() != Result::success) return 1;
  while (!sender && plugin->connect(handle.data(), &sender) == Result::success) std::this_thread::yield();
  const auto bytes = pattern(1 << 20, 6);
  for (Result result = Result::success; result == Result::success;) {
    void* request = nullptr;
    while (!request && result == Result::success) {
      result = plugin->isend(sender, const_cast<std::byte*>(bytes.data()), bytes.size(), 0, &request);
    }
    for (int done = 0; !done && result == Result::success;) result = plugin->test(request, &done, nullptr);
  }
  return 1;
}

}  // namespace trigram::tests
