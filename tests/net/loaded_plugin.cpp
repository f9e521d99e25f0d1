#include "tests/net/loaded_plugin.hpp"

#include "tests/net/rivals.hpp"

namespace trigram::tests {

std::unique_ptr<LoadedPlugin> load_plugin(const std::string& what) {
  if (auto rival = rival_of(what)) return rival;
  return net_backend::load_plugin(what, log_of_tests);
}

}  // namespace trigram::tests
