// Sessions as functions of C.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "python/session/answer.hpp"
#include "python/session/session.hpp"
#include "python/session/surface.hpp"

namespace trigram {
namespace {

std::vector<Parameter> parameters_of(const Json& listed) {
  std::vector<Parameter> all;
  for (const Json& one : listed) {
    Parameter parameter{one.at("name").get<std::string>(), one.at("count").get<std::int64_t>()};
    parameter.modelled_count = parameter.count;
    parameter.layer = static_cast<int>(all.size());
    parameter.dimensions = parameter.modelled_dimensions = one.at("dimensions").get<Dimensions>();
    all.push_back(std::move(parameter));
  }
  return all;
}

std::optional<int> device_of(const Json& settings) {
  const auto found = settings.find("device");
  return found == settings.end() ? std::nullopt : std::optional(found->get<int>());
}

/// The parameters of each bucket in the order in which they lie there.
Json order_of(const BucketPlan& plan) {
  Json buckets = Json::array();
  for (const BucketLayout& bucket : plan.buckets) {
    Json& order = buckets.emplace_back(Json::array());
    for (const Tensor& tensor : bucket.tensors) order.push_back(tensor.parameter);
  }
  return buckets;
}

/// As numbers, by lane.
Json numbers_of(const std::vector<void*>& streams) {
  Json numbers = Json::array();
  for (void* const stream : streams) numbers.push_back(reinterpret_cast<std::uintptr_t>(stream));
  return numbers;
}

Json row_of(const StepRow& row, const Records& recorded) {
  Json cells = {{"step", row.step},
                {"rank", row.rank},
                {"time_s", row.time_s},
                {"bytes_sent", row.bytes_sent},
                {"bytes_between_nodes", row.bytes_between_nodes},
                {"compute_s", row.compute_s},
                {"encode_s", row.encode_s},
                {"wire_s", row.wire_s},
                {"decode_s", row.decode_s},
                {"exposed_s", row.exposed_s}};
  for (const auto& [column, value] : recorded) cells[column] = value;
  return cells;
}

}  // namespace
}  // namespace trigram

using trigram::Session;

const char* trigram_reply() { return trigram::last_reply.c_str(); }

int trigram_open(const char* settings, Session** session) {
  return trigram::answer([&] {
    const trigram::Json given = trigram::Json::parse(settings);
    trigram::Params flags("with_trigram", "");
    for (const auto& [key, value] : given.at("flags").items()) flags.set(key, value.get<std::string>());
    auto opened = std::make_unique<Session>(std::move(flags), trigram::parameters_of(given.at("parameters")),
                                            given.at("loop_updates").get<bool>(), trigram::device_of(given));
    trigram::last_reply = trigram::Json{{"rank", opened->rank()},
                                        {"ranks", opened->ranks()},
                                        {"order", trigram::order_of(opened->plan())},
                                        {"synchronous", opened->synchronous()},
                                        {"reads_gradients", opened->reads_gradients()},
                                        {"reads_weights", opened->reads_weights()},
                                        {"streams", trigram::numbers_of(opened->streams())}}
                              .dump();
    *session = opened.release();
  });
}

int trigram_follow(Session* session, std::uint64_t stream) {
  return trigram::answer([&] { session->follow(trigram::address(stream)); });
}

int trigram_adopt(Session* session, const std::uint64_t* weights, const std::uint64_t* gradients,
                  const std::int64_t* counts, int parameters) {
  return trigram::answer([&] {
    std::vector<trigram::ParameterView> memory;
    for (int i = 0; i < parameters; ++i) {
      const auto shape = trigram::Shape::of(counts[i], trigram::DType::f32);
      memory.push_back({{trigram::address(weights[i]), shape}, {trigram::address(gradients[i]), shape}});
    }
    session->adopt(std::move(memory));
  });
}

int trigram_share(Session* session, std::uint64_t bytes, std::int64_t count, int root) {
  return trigram::answer([&] {
    session->share({trigram::address(bytes), trigram::Shape::of(count, trigram::DType::u8)}, root);
  });
}

int trigram_sum(Session* session, std::uint64_t numbers, std::int64_t count) {
  return trigram::answer([&] {
    session->sum({trigram::address(numbers), trigram::Shape::of(count, trigram::DType::f32)});
  });
}

int trigram_come_to_rest(Session* session) {
  return trigram::answer([&] { session->come_to_rest(); });
}

int trigram_global_weights(Session* session) {
  return trigram::answer([&] { session->global_weights(); });
}

int trigram_meet(Session* session) {
  return trigram::answer([&] { session->meet(); });
}

int trigram_state(Session* session, const char** bytes, std::int64_t* count) {
  return trigram::answer([&] {
    const std::vector<std::byte> state = session->state();
    trigram::last_reply.assign(reinterpret_cast<const char*>(state.data()), state.size());
    *bytes = trigram::last_reply.data();
    *count = static_cast<std::int64_t>(state.size());
  });
}

int trigram_go_on_from(Session* session, const char* bytes, std::int64_t count) {
  return trigram::answer(
      [&] { session->go_on_from(std::as_bytes(std::span(bytes, static_cast<std::size_t>(count)))); });
}

int trigram_begin(Session* session, double learning_rate) {
  return trigram::answer([&] { session->begin(learning_rate); });
}

int trigram_tensor_ready(Session* session, int parameter) {
  return trigram::answer([&] { session->tensor_ready(parameter); });
}

int trigram_gradients_end(Session* session) {
  return trigram::answer([&] { session->gradients_end(); });
}

int trigram_end(Session* session) {
  return trigram::answer([&] { session->end(); });
}

int trigram_finish(Session* session) {
  return trigram::answer([&] { session->finish(); });
}

int trigram_rows(Session* session) {
  return trigram::answer([&] {
    trigram::Json rows = trigram::Json::array();
    for (std::size_t i = 0; i < session->rows().size(); ++i)
      rows.push_back(trigram::row_of(session->rows()[i], session->recorded()[i]));
    trigram::last_reply = rows.dump();
  });
}

int trigram_spans(Session* session, int rank) {
  return trigram::answer([&] {
    trigram::Json spans = trigram::Json::array();
    for (const trigram::LaneSpan& span : session->spans_of(rank)) {
      spans.push_back({{"rank", rank},
                       {"lane", span.lane},
                       {"lane_name", session->lane_name(span.lane)},
                       {"activity", name_of(span.activity)},
                       {"name", span.name},
                       {"begin_s", span.begin},
                       {"seconds", span.end - span.begin},
                       {"bytes", span.bytes},
                       {"call", span.call.number},
                       {"size", span.call.size},
                       {"ranks", span.call.ranks}});
    }
    trigram::last_reply = spans.dump();
  });
}

int trigram_require_gradients_only(const char* algorithm, const char* else_text) {
  return trigram::answer([&] { Session::require_gradients_only(algorithm, else_text); });
}

int trigram_keep(Session* session) {
  return trigram::answer([&] { session->keep(); });
}

int trigram_go_back(Session* session) {
  return trigram::answer([&] { session->go_back(); });
}

int trigram_rescale(Session* session, double factor) {
  return trigram::answer([&] { session->rescale(factor); });
}

int trigram_state_is_finite(Session* session, int* finite) {
  return trigram::answer([&] { *finite = session->state_is_finite() ? 1 : 0; });
}

int trigram_has_ended(const Session* session) { return session->ended() ? 1 : 0; }

void trigram_fail(Session* session, const char* reason) { session->fail(reason); }

void trigram_close(Session* session) { delete session; }
