// Whether a rank can move: a deadlock is a state in which none can, however fast the clock runs.
#pragma once

#include <cstdint>

namespace trigram::sim {

/// Counts the actors of ranks, and those among them that wait for what only another one can do. What else an actor
/// does, computing, sleeping or having bytes under way, ends by itself.
class Standstill {
 public:
  /// While it lives, so does the actor of a rank or of one of its lanes.
  class Actor {
   public:
    explicit Actor(Standstill& of_all) : of_all_(of_all) { of_all_.add_actors(1); }
    ~Actor() { of_all_.add_actors(-1); }
    Actor(const Actor&) = delete;
    Actor& operator=(const Actor&) = delete;

   private:
    Standstill& of_all_;
  };

  /// While it lives, its actor waits for another one. An actor that waits for the other end of a message has none: it
  /// can move once that is there, which its channel knows.
  class Rest {
   public:
    explicit Rest(Standstill& of_all) : of_all_(of_all) { of_all_.add_resting(1); }
    ~Rest() { of_all_.add_resting(-1); }
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;

   private:
    Standstill& of_all_;
  };

  /// Actors that do not rest.
  int moving() const { return actors_ - resting_; }
  /// Another number after each change.
  std::uint64_t changes() const { return changes_; }

 private:
  void add_actors(int count) {
    actors_ += count;
    ++changes_;
  }
  void add_resting(int count) {
    resting_ += count;
    ++changes_;
  }

  int actors_ = 0, resting_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace trigram::sim
