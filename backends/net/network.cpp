#include "backends/net/network.hpp"

#include <algorithm>
#include <cstring>

#include "backends/net/plugin_log.hpp"
#include "core/values/error.hpp"
#include "core/world/bytes.hpp"
#include "processes/nap.hpp"

namespace trigram::net_backend {
namespace {

using nlohmann::json;

constexpr int refused = 2, failed = 1;

Network* the_network = nullptr;

void write_text(const std::string& text, char* to, int room) {
  const std::size_t bytes = std::min(text.size(), static_cast<std::size_t>(room) - 1);
  std::memcpy(to, text.data(), bytes);
  to[bytes] = 0;
}

int ask_in_c(const char* question, char* text, int room) {
  try {
    write_text(the_network->answer(json::parse(question)).dump(), text, room);
    return 0;
  } catch (const UsageError& error) {
    write_text(error.what(), text, room);
    return refused;
  } catch (const BackendError& error) {
    write_text(error.what(), text, room);
    return failed;
  }
}

int carry_in_c(int connections, int lane, const torch::Message* messages, int count, double seconds, char* text,
               int room) {
  const torch::TransferError error =
      the_network->carry(connections, lane, {messages, static_cast<std::size_t>(count)}, seconds);
  write_text(error.text, text, room);
  return error.text.empty() ? -1 : error.message;
}

std::unique_ptr<LoadedPlugin> started(const std::string& what) {
  std::unique_ptr<LoadedPlugin> plugin;
  try {
    plugin = load_plugin(what, log_of_plugin);
  } catch (const std::runtime_error& error) {
    throw UsageError("backend net has no plugin: " + std::string(error.what()) +
                     "; build it (cmake --build build/release --target trigram_net), or name one by net:plugin=FILE");
  }
  if (plugin->init() == net::abi::Result::success && plugin->said().devices > 0) return plugin;
  plugin->finalize();
  throw UsageError("the net plugin " + what + " refuses to work here: " + last_warning_of_plugin());
}

}  // namespace

Network::Network(Rendezvous& rendezvous, const std::string& plugin) : rendezvous_(rendezvous) {
  ensure(the_network == nullptr, "a process has one net plugin");
  show_log_of_plugin(rendezvous.rank() == 0);
  plugin_ = started(plugin);
  nap_precisely();
  the_network = this;
}

Network::~Network() {
  links_.clear();
  plugin_->finalize();
  the_network = nullptr;
}

json Network::facts() const {
  const Said said = plugin_->said();
  return {{"library", "net plugin " + said.name}, {"speed_mbps", said.speed}};
}

torch::Network Network::functions() const {
  return {ask_in_c, carry_in_c, /*carry_each_in_c=*/nullptr, /*tells_unequal_sizes=*/true};
}

json Network::answer(const json& question) {
  static const std::map<std::string, json (Network::*)(const json&)> answers{{"open", &Network::open},
                                                                             {"tell", &Network::tell},
                                                                             {"connect", &Network::connect},
                                                                             {"end", &Network::end},
                                                                             {"close", &Network::close}};
  return (this->*answers.at(question.at("ask")))(question);
}

torch::TransferError Network::carry(int connections, int lane, std::span<const torch::Message> messages,
                                    double seconds) {
  return links(connections)->carry(lane, messages, seconds);
}

std::shared_ptr<Links> Network::links(int number) {
  const std::lock_guard lock(mutex_);
  return links_.at(number);
}

json Network::open(const json& question) {
  const std::lock_guard lock(mutex_);
  links_.emplace(opened_, std::make_shared<Links>(*plugin_, rendezvous_, question.at("seconds").get<double>()));
  return opened_++;
}

json Network::tell(const json& question) {
  const Links& of = *links(question.at("connections"));
  const std::string said = rendezvous_.rank() == 0 ? question.at("said").dump() : "";
  return json::parse(text_of(rendezvous_.all_gather(bytes_of(said), {of.seconds()}).front()));
}

json Network::connect(const json& question) {
  links(question.at("connections"))->connect(question.at("lanes"));
  return nullptr;
}

json Network::end(const json& question) {
  links(question.at("connections"))->end();
  return nullptr;
}

json Network::close(const json& question) {
  const std::lock_guard lock(mutex_);
  links_.erase(question.at("connections").get<int>());
  return nullptr;
}

}  // namespace trigram::net_backend
