// Peers that die, and peers that sleep.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/net/plugin_under_test.hpp"

namespace trigram::tests {
namespace {

/// A process that sends messages of a megabyte to this one, until it is ended. A program of its own, since a child gets
/// none of the plugin's threads.
class SendingPeer {
 public:
  explicit SendingPeer(const HandleOfTest& handle) {
    int handles[2];
    EXPECT_EQ(pipe(handles), 0);
    EXPECT_EQ(write(handles[1], handle.data(), handle.size()), static_cast<ssize_t>(handle.size()));
    process_ = fork();
    if (process_ == 0) {
      dup2(handles[0], STDIN_FILENO);
      const std::string plugin = "--plugin=" + plugin_under_test();
      execl("/proc/self/exe", "test_net", "--peer", plugin.c_str(), nullptr);
      _exit(1);
    }
    close(handles[0]);
    close(handles[1]);
  }
  ~SendingPeer() { end(); }

  void signal(int number) const { kill(process_, number); }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

class Peers : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(plugin_->init(), Result::success);
    ASSERT_EQ(plugin_->listen(handle_.data(), &listener_), Result::success);
    peer_ = std::make_unique<SendingPeer>(handle_);
    ASSERT_TRUE(soon([&] {
      EXPECT_EQ(plugin_->accept(listener_, &receiver_), Result::success);
      return receiver_ != nullptr;
    }));
    for (int i = 0; i < 3; ++i) ASSERT_EQ(receive_one(), Result::success);
  }
  void TearDown() override {
    peer_.reset();
    EXPECT_EQ(plugin_->close_receive(receiver_), Result::success);
    EXPECT_EQ(plugin_->close_listen(listener_), Result::success);
    EXPECT_EQ(plugin_->finalize(), Result::success);
  }

  Result receive_one() {
    void* request = nullptr;
    Result result = plugin_->irecv(receiver_, {received_.data()}, {received_.size()}, {0}, &request);
    int done = 0;
    EXPECT_TRUE(soon([&] {
      if (result == Result::success) result = plugin_->test(request, &done, nullptr);
      return done || result != Result::success;
    }));
    return result;
  }

  std::unique_ptr<LoadedPlugin> plugin_ = load_plugin(plugin_under_test());
  HandleOfTest handle_{};
  void* listener_ = nullptr;
  void* receiver_ = nullptr;
  std::unique_ptr<SendingPeer> peer_;
  std::vector<std::byte> received_ = std::vector<std::byte>(1 << 20);
};

TEST_F(Peers, ThatAreKilledAreAnError) {
  peer_->end();
  Result result = Result::success;
  for (int i = 0; i < 100 && result == Result::success; ++i) result = receive_one();
  EXPECT_EQ(result, Result::remote_error);
}

TEST_F(Peers, ThatAreStoppedAreWaitedFor) {
  peer_->signal(SIGSTOP);
  void* request = nullptr;
  ASSERT_EQ(plugin_->irecv(receiver_, {received_.data()}, {received_.size()}, {0}, &request), Result::success);
  // Longer than a path may stall while another one moves.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  int done = 0;
  while (!done && std::chrono::steady_clock::now() < end) {
    ASSERT_EQ(plugin_->test(request, &done, nullptr), Result::success);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  peer_->signal(SIGCONT);
  ASSERT_TRUE(soon([&] {
    if (!done) {
      EXPECT_EQ(plugin_->test(request, &done, nullptr), Result::success);
    }
    return done != 0;
  }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(receive_one(), Result::success);
    EXPECT_EQ(received_, pattern(1 << 20, 6));
  }
}

}  // namespace
}  // namespace trigram::tests
