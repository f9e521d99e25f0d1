// The cases, on any plugin: test_net [--plugin=FILE[:VERSION]] [flags of GoogleTest].

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/net/plugin_under_test.hpp"

namespace {

/// NCCL's example, for one, has none.
bool has_a_device(const std::string& what) {
  const auto plugin = trigram::tests::load_plugin(what);
  const bool has = plugin->init() == trigram::tests::Result::success && plugin->said().devices > 0;
  plugin->finalize();
  if (!has) std::fprintf(stderr, "%s has no device here, so that there is nothing to try\n", what.c_str());
  return has;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  setenv("TRIGRAM_NET_INTERFACES", "=lo", 0);
  bool is_peer = false;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    is_peer = is_peer || flag == "--peer";
    if (!flag.starts_with("--plugin=")) continue;
    trigram::tests::set_plugin_under_test(flag.substr(9));
    if (!has_a_device(flag.substr(9))) return 1;
  }
  if (is_peer) return trigram::tests::send_for_ever();
  return RUN_ALL_TESTS();
}
