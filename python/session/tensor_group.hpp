// Collectives on memory of the caller's, for programs that do not train by Trigram.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device/codec.hpp"
#include "core/lane/group_call.hpp"
#include "core/registry/params.hpp"
#include "core/training/backend.hpp"

namespace trigram {

/// From its construction to `leave`, this process is a rank that does nothing but what it is called for. Each call is
/// made by all ranks of its group, in one order. Whatever fails ends it: ranks that wait for this one learn of it.
class TensorGroup {
 public:
  /// Reads `backend`, `all-reduce` and `device`, which is that of the tensors' memory where it is not the host's, and
  /// joins. Collective. Throws UsageError for what cannot be.
  explicit TensorGroup(Params flags);
  ~TensorGroup();
  TensorGroup(const TensorGroup&) = delete;
  TensorGroup& operator=(const TensorGroup&) = delete;

  /// On a device: from now on what is called for follows what the caller has ordered on that stream, a cudaStream_t,
  /// and what it orders there next follows what was called or waited for.
  void follow(void* stream);
  /// Group 0 has all ranks.
  int rank(int group) const { return of(group).now->rank(); }
  int size(int group) const { return of(group).now->size(); }
  /// A group of those of `group` that give the same color, ordered by (key, rank). Waits for what was begun. Collective
  /// over `group`.
  int split(int group, int color, int key);
  /// Returns once it is done; on a device, once it is ordered.
  void call(int group, const GroupCall& call);
  /// Runs what all ranks of a group run alike, and returns the bytes that this one has sent in it.
  using Exchange = std::function<void(Worker&, Communicator&)>;
  std::int64_t together(int group, const Exchange& exchange);
  /// A codec of the ranks' device. Throws UsageError where there is none of that name.
  const Codec& codec(const std::string& spec);
  /// Begins, and returns what `wait` takes. Buffers stay where they are, and nobody touches them, until then. All that
  /// was begun runs in order, beside what `call` does.
  std::int64_t begin(int group, GroupCall call);
  bool done(std::int64_t begun);
  /// Returns once it is done; on a device, once what comes next on the stream is ordered behind it.
  void wait(std::int64_t begun);
  /// Waits for all that was begun, and ends. Collective.
  void leave();
  bool ended() const { return entered_ == nullptr; }

 private:
  /// The same ranks, for what is called now and for what runs beside it.
  struct Communicators {
    Communicator* now = nullptr;
    Communicator* beside = nullptr;
    std::unique_ptr<Communicator> own_now = {}, own_beside = {};
  };
  const Communicators& of(int group) const;
  template <class Body>
  void guarded(const Body& body);
  template <class Body>
  void guarded_turn(const Body& body);
  void fail(std::exception_ptr error) noexcept;

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<EnteredRank> entered_;
  std::optional<Worker> worker_;
  std::vector<Communicators> groups_;
  std::map<std::string, std::unique_ptr<Codec>> codecs_;  ///< by spec
  std::map<std::int64_t, Pending> begun_;
  std::int64_t next_ = 0;
};

}  // namespace trigram
