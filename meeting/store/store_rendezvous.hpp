// Gathers and barriers on top of a store.
#pragma once

#include "meeting/heartbeat.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram {

/// Ranks that meet in a store. The constructor returns when all are there.
class StoreRendezvous final : public Rendezvous {
 public:
  /// Throws UsageError where two processes have one number or believe in different numbers of ranks, and BackendError
  /// naming the ranks that did not come within `patience`; until then they may take their time.
  StoreRendezvous(std::unique_ptr<Store> store, const Member& member, Patience patience, HeartbeatTimes times = {});
  ~StoreRendezvous() override;
  StoreRendezvous(const StoreRendezvous&) = delete;
  StoreRendezvous& operator=(const StoreRendezvous&) = delete;

  int rank() const override { return member_.rank; }
  int ranks() const override { return member_.ranks; }
  Parts all_gather(const Bytes& own, Patience patience) override;
  Parts gather(const Bytes& own, Patience patience) override;
  void publish(const JobFailure& failure) noexcept override { heartbeat_->publish(failure); }
  std::optional<JobFailure> failure() override { return heartbeat_->failure(); }
  void note(const std::string& name, const std::string& text) override;
  std::optional<std::string> noted(const std::string& name) override;
  void leave() noexcept override;
  std::string place() const override { return store_->place(); }

 private:
  void introduce();
  void hear_the_others(Patience patience);
  void compare(int other, const Bytes& hello);
  [[noreturn]] void refuse(const std::string& reason);
  std::string hints();
  std::string key_of(std::int64_t sequence, int rank) const;
  void bring(const Bytes& own);
  void tidy();
  /// Values under `prefix`RANK for every rank, with `what` for the message when one is missing.
  Parts wait_for_all(const std::string& prefix, Patience patience, const std::string& what);

  std::unique_ptr<Store> store_;
  const Member member_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::int64_t sequence_ = 0;
  std::int64_t tidied_ = 0;  ///< own values of earlier gathers are gone
  bool left_ = false;
};

}  // namespace trigram
