// Groups of tensors as functions of C, as c_surface.cpp has them for sessions.
#include <memory>
#include <utility>

#include "python/session/answer.hpp"
#include "python/session/call_text.hpp"
#include "python/session/surface.hpp"
#include "python/session/tensor_group.hpp"

namespace trigram {
namespace {

void reply_with_place(const TensorGroup& tensors, int group) {
  last_reply = Json{{"group", group}, {"rank", tensors.rank(group)}, {"size", tensors.size(group)}}.dump();
}

}  // namespace
}  // namespace trigram

using trigram::TensorGroup;

int trigram_group_open(const char* flags, TensorGroup** group) {
  return trigram::answer([&] {
    trigram::Params given("trigram.comm", "");
    const trigram::Json parsed = trigram::Json::parse(flags);
    for (const auto& [key, value] : parsed.items()) given.set(key, value.get<std::string>());
    auto opened = std::make_unique<TensorGroup>(std::move(given));
    trigram::reply_with_place(*opened, 0);
    *group = opened.release();
  });
}

int trigram_group_follow(TensorGroup* tensors, std::uint64_t stream) {
  return trigram::answer([&] { tensors->follow(trigram::address(stream)); });
}

int trigram_group_split(TensorGroup* tensors, int group, int color, int key) {
  return trigram::answer([&] { trigram::reply_with_place(*tensors, tensors->split(group, color, key)); });
}

int trigram_group_call(TensorGroup* tensors, int group, const char* call, const std::uint64_t* addresses,
                       const std::int64_t* counts, int buffers) {
  return trigram::answer([&] { tensors->call(group, trigram::group_call_of(call, addresses, counts, buffers)); });
}

int trigram_group_begin(TensorGroup* tensors, int group, const char* call, const std::uint64_t* addresses,
                        const std::int64_t* counts, int buffers, std::int64_t* begun) {
  return trigram::answer(
      [&] { *begun = tensors->begin(group, trigram::group_call_of(call, addresses, counts, buffers)); });
}

int trigram_group_done(TensorGroup* tensors, std::int64_t begun, int* done) {
  return trigram::answer([&] { *done = tensors->done(begun) ? 1 : 0; });
}

int trigram_group_wait(TensorGroup* tensors, std::int64_t begun) {
  return trigram::answer([&] { tensors->wait(begun); });
}

void trigram_chunk(std::int64_t count, int size, int rank, std::int64_t* begin, std::int64_t* end) {
  *begin = trigram::chunk_begin(count, size, rank);
  *end = trigram::chunk_begin(count, size, rank + 1);
}

int trigram_group_leave(TensorGroup* tensors) {
  return trigram::answer([&] { tensors->leave(); });
}

int trigram_group_has_ended(const TensorGroup* tensors) { return tensors->ended() ? 1 : 0; }

void trigram_group_close(TensorGroup* tensors) { delete tensors; }
