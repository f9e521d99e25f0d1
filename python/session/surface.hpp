// What the library gives to other languages: functions of integers, pointers and texts, none of which throws. Where
// they give an int it is 0, or what the program would exit with: 2 where the user can fix it, else 1; `trigram_reply`
// then has the message. Texts that go in and come out are JSON.
#pragma once

#include <cstdint>

#define TRIGRAM_SURFACE extern "C" __attribute__((visibility("default")))

namespace trigram {

class Session;
class TensorGroup;
struct KeptBytes;
/// A lane, while it is the caller's code that runs there.
struct LaneOfCaller;

/// Gives 0, or 1 after trigram_lane_fail. The message is as core/foreign/foreign_messages.hpp has it.
using MessageCallback = int (*)(LaneOfCaller*, const char* message);

}  // namespace trigram

/// Of the last call on this thread: its answer, or its message. Until the next one.
TRIGRAM_SURFACE const char* trigram_reply();

/// A session (python/session/session.hpp). `settings`: {"flags": {"algorithm": "bytegrad", …}, "parameters": [{"name",
/// "count", "dimensions": as they lie in memory, the longest stride first}], "loop_updates", "device": the CUDA device
/// of the model's memory, absent where it is the host's}; answers {"rank", "ranks", "order": the parameters of each
/// bucket, "synchronous", "reads_gradients", "reads_weights", "streams": cudaStream_t as numbers, by lane, none where
/// the memory is the host's}.
TRIGRAM_SURFACE int trigram_open(const char* settings, trigram::Session** session);
/// From now on hooks follow what was ordered on `stream`, a cudaStream_t as a number, and what comes there next them.
TRIGRAM_SURFACE int trigram_follow(trigram::Session* session, std::uint64_t stream);
/// Addresses of f32 elements, and how many, by parameter.
TRIGRAM_SURFACE int trigram_adopt(trigram::Session* session, const std::uint64_t* weights,
                                  const std::uint64_t* gradients, const std::int64_t* counts, int parameters);
TRIGRAM_SURFACE int trigram_share(trigram::Session* session, std::uint64_t bytes, std::int64_t count, int root);
TRIGRAM_SURFACE int trigram_come_to_rest(trigram::Session* session);
TRIGRAM_SURFACE int trigram_global_weights(trigram::Session* session);
TRIGRAM_SURFACE int trigram_meet(trigram::Session* session);
/// `count` f32 numbers.
TRIGRAM_SURFACE int trigram_sum(trigram::Session* session, std::uint64_t numbers, std::int64_t count);
/// Bytes that are there until the next call on this thread.
TRIGRAM_SURFACE int trigram_state(trigram::Session* session, const char** bytes, std::int64_t* count);
TRIGRAM_SURFACE int trigram_go_on_from(trigram::Session* session, const char* bytes, std::int64_t count);
TRIGRAM_SURFACE int trigram_begin(trigram::Session* session, double learning_rate);
TRIGRAM_SURFACE int trigram_tensor_ready(trigram::Session* session, int parameter);
TRIGRAM_SURFACE int trigram_gradients_end(trigram::Session* session);
TRIGRAM_SURFACE int trigram_end(trigram::Session* session);
TRIGRAM_SURFACE int trigram_finish(trigram::Session* session);
/// Answers a list of rows with the columns of steps.csv, but for the loss.
TRIGRAM_SURFACE int trigram_rows(trigram::Session* session);
/// Answers a list of what the lanes of `rank` did: rank, lane, lane_name, activity, name, begin_s, seconds, bytes.
TRIGRAM_SURFACE int trigram_spans(trigram::Session* session, int rank);
/// Bytes of the library's that its caller holds: empty until somebody fills them.
TRIGRAM_SURFACE trigram::KeptBytes* trigram_kept();
TRIGRAM_SURFACE void trigram_kept_bytes(const trigram::KeptBytes* kept, const char** bytes, std::int64_t* count);
TRIGRAM_SURFACE void trigram_kept_drop(trigram::KeptBytes* kept);
/// As Session::border; the session may end before `kept` is read.
TRIGRAM_SURFACE int trigram_border(trigram::Session* session, trigram::KeptBytes* kept);
/// What rank `rank` of the new members takes over. `change`: {"ranks" before, "were": of each new rank the old one, -1
/// of a newcomer, "lost" and "apart": old ranks, as in a MemberChange}; the states of the old ranks, empty of those
/// that were lost.
TRIGRAM_SURFACE int trigram_hand_over(const char* change, const std::uint64_t* states, const std::int64_t* counts,
                                      int rank, trigram::KeptBytes* handed);
/// Before trigram_adopt.
TRIGRAM_SURFACE int trigram_take_over(trigram::Session* session, const trigram::KeptBytes* handed);
/// Answers what a file of --membership says, {"by_clock", "changes"}: by steps a list of epochs, as {"begin",
/// "members", "joined", "left", "lost"}, where `steps` is not 0, by the clock one of {"second", "how": "join" | "leave"
/// | "lose", "member"}.
TRIGRAM_SURFACE int trigram_member_changes(const char* text, int ranks, std::int64_t steps);
/// Whether the algorithm can do with gradients alone; the message, where it cannot, ends with `else_text`.
TRIGRAM_SURFACE int trigram_require_gradients_only(const char* algorithm, const char* else_text);
/// Of an epoch of a job whose members come and go, for the session that this thread opens next where its backend has
/// epochs. `terms` as EpochSeat::Terms: {"rank", "ranks", "host", "port", "secret", "patience", "silence"}; answers
/// {"port"}, at which rank 0 listens.
TRIGRAM_SURFACE int trigram_take_seat(const char* terms);
/// Where no session was opened after all.
TRIGRAM_SURFACE void trigram_leave_seat();
/// As Session::settle and Session::require_whole.
TRIGRAM_SURFACE int trigram_settle(trigram::Session* session);
TRIGRAM_SURFACE int trigram_require_whole(trigram::Session* session);
/// As Session::give_up; from any thread.
TRIGRAM_SURFACE void trigram_give_up(const trigram::Session* session, const char* reason);
/// Whether a step of that algorithm may be done without ranks that are gone, 1 or 0.
TRIGRAM_SURFACE int trigram_bears_absence(const char* algorithm, int* bears);
TRIGRAM_SURFACE int trigram_keep(trigram::Session* session);
TRIGRAM_SURFACE int trigram_go_back(trigram::Session* session);
TRIGRAM_SURFACE int trigram_rescale(trigram::Session* session, double factor);
TRIGRAM_SURFACE int trigram_state_is_finite(trigram::Session* session, int* finite);
TRIGRAM_SURFACE int trigram_has_ended(const trigram::Session* session);
/// The loop has failed by itself. Does nothing where the session has ended.
TRIGRAM_SURFACE void trigram_fail(trigram::Session* session, const char* reason);
/// Once. Of a session that has not finished, others take it for a failure.
TRIGRAM_SURFACE void trigram_close(trigram::Session* session);

/// Sessions that this thread opens next with "python_algorithm" call `callback`, from any thread, until they have
/// finished.
TRIGRAM_SURFACE void trigram_hooks(trigram::MessageCallback callback);
/// A collective of the lane, as trigram_group_call, or what ForeignLane::perform has beside them.
TRIGRAM_SURFACE int trigram_lane_call(trigram::LaneOfCaller* own, const char* group, const char* call,
                                      const std::uint64_t* addresses, const std::int64_t* counts, int buffers);
/// Answers what was asked for.
TRIGRAM_SURFACE int trigram_lane_ask(trigram::LaneOfCaller* own, const char* question);
/// The code has failed; it gives 1 next.
TRIGRAM_SURFACE void trigram_lane_fail(trigram::LaneOfCaller* own, const char* reason);

/// A group (python/session/tensor_group.hpp). `flags`: {"backend", "all-reduce", "device": the number of the tensors'
/// CUDA device, absent where their memory is the host's}, all of them texts; answers {"group", "rank", "size"} of all
/// ranks.
TRIGRAM_SURFACE int trigram_group_open(const char* flags, trigram::TensorGroup** group);
/// As trigram_follow, for calls, and for what is begun and waited for.
TRIGRAM_SURFACE int trigram_group_follow(trigram::TensorGroup* tensors, std::uint64_t stream);
/// Answers as trigram_group_open, of the new group.
TRIGRAM_SURFACE int trigram_group_split(trigram::TensorGroup* tensors, int group, int color, int key);
/// `call`: {"collective", "op", "peer", "dtype", "peers", "sent"}, with the addresses and elements of its buffers.
TRIGRAM_SURFACE int trigram_group_call(trigram::TensorGroup* tensors, int group, const char* call,
                                       const std::uint64_t* addresses, const std::int64_t* counts, int buffers);
TRIGRAM_SURFACE int trigram_group_begin(trigram::TensorGroup* tensors, int group, const char* call,
                                        const std::uint64_t* addresses, const std::int64_t* counts, int buffers,
                                        std::int64_t* begun);
TRIGRAM_SURFACE int trigram_group_done(trigram::TensorGroup* tensors, std::int64_t begun, int* done);
TRIGRAM_SURFACE int trigram_group_wait(trigram::TensorGroup* tensors, std::int64_t begun);
/// The bytes of a frame of `count` elements.
TRIGRAM_SURFACE int trigram_codec_bytes(const char* codec, std::int64_t count, std::int64_t* bytes);
/// Of `count` f32 numbers, as many of each rank of the group, each rank brings its own; all ranks get what the codec
/// leaves of each. `call`: {"codec", "seed", "step", "bucket", "chunk"}, the last four as Key has them. `sent`: bytes.
TRIGRAM_SURFACE int trigram_group_gather_encoded(trigram::TensorGroup* tensors, int group, const char* call,
                                                 std::uint64_t numbers, std::int64_t count, std::int64_t* sent);
/// Of `count` f32 numbers, as many for each rank of the group, each rank gets its own, added over ranks: `call` has
/// "op" too, "sum" or "mean". The numbers of others are as before.
TRIGRAM_SURFACE int trigram_group_reduce_encoded(trigram::TensorGroup* tensors, int group, const char* call,
                                                 std::uint64_t numbers, std::int64_t count, std::int64_t* sent);
/// Where this rank's chunk of `count` elements begins among `size` ranks, and where it ends.
TRIGRAM_SURFACE void trigram_chunk(std::int64_t count, int size, int rank, std::int64_t* begin, std::int64_t* end);
TRIGRAM_SURFACE int trigram_group_leave(trigram::TensorGroup* tensors);
TRIGRAM_SURFACE int trigram_group_has_ended(const trigram::TensorGroup* tensors);
/// Once. Of a group that was not left, others take it for a failure.
TRIGRAM_SURFACE void trigram_group_close(trigram::TensorGroup* tensors);

/// One step of `tensors` tensors of f32, each as long as `counts` says; `velocities` is read with momentum only.
TRIGRAM_SURFACE int trigram_sgd_step(const std::uint64_t* weights, const std::uint64_t* gradients,
                                     const std::uint64_t* velocities, const std::int64_t* counts, int tensors,
                                     double learning_rate, double momentum, double dampening, double weight_decay,
                                     int nesterov, int first_step);
/// The same of Adam, or of AdamW where decay is `decoupled`; `step` counts from 1.
TRIGRAM_SURFACE int trigram_adam_step(const std::uint64_t* weights, const std::uint64_t* gradients,
                                      const std::uint64_t* first, const std::uint64_t* second,
                                      const std::int64_t* counts, int tensors, double learning_rate, double beta1,
                                      double beta2, double epsilon, double weight_decay, std::int64_t step,
                                      int decoupled);
