// The cases, on any plugin: test_net [--plugin=FILE[:VERSION]] [flags of GoogleTest].

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/net/plugin_under_test.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  setenv("TRIGRAM_NET_INTERFACES", "=lo", 0);
  bool is_peer = false;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    is_peer = is_peer || flag == "--peer";
    if (flag.starts_with("--plugin=")) trigram::tests::set_plugin_under_test(flag.substr(9));
  }
  if (is_peer) return trigram::tests::send_for_ever();
  return RUN_ALL_TESTS();
}
