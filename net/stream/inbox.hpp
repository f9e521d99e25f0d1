// The receives of a communicator, and the small messages that came before theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "net/comm.hpp"
#include "net/stream/frame.hpp"

namespace trigram::net {

/// Messages of a tag go to its receives in order. What came already, or comes twice by two paths, is not written again.
class Inbox {
 public:
  /// A receive of at most so many bytes, the `place`-th of its request. False if there are too many tags.
  bool post(Request* request, int place, std::byte* data, std::uint64_t capacity, std::int32_t tag);
  bool knows(std::int32_t tag) const { return tags_.contains(tag); }
  /// How many have been posted with the tag.
  std::uint64_t posted(std::int32_t tag) const;
  const auto& tags() const { return tags_; }

  /// Where the bytes of a chunk go. Null where they go nowhere: `discarded` if they came already, else since the peer
  /// may not send them, and `problem` says why.
  std::byte* destination(const Frame& frame, bool& discarded);
  void arrived(const Frame& frame);
  const std::string& problem() const { return problem_; }

 private:
  struct Receive {
    Request* request = nullptr;
    int place = 0;
    std::byte* data = nullptr;
    std::uint64_t capacity = 0;
    std::uint64_t arrived = 0;  ///< chunks
    std::uint32_t chunk = 0;    ///< bytes of one; 0: none is known yet
    std::uint64_t size = 0;
    std::vector<bool> has_arrived;
    bool done = false;
  };
  struct Tag {
    std::uint64_t over = 0;  ///< receives before the first in the queue
    std::deque<Receive> receives;
  };
  /// A small message without a receive.
  struct Early {
    std::vector<std::byte> bytes;
    bool has_arrived = false;
  };
  using Key = std::pair<std::int32_t, std::uint64_t>;

  Receive* receive_of(const Frame& frame);
  bool accepts(Receive& receive, const Frame& frame);
  std::byte* early_destination(const Frame& frame, bool& discarded);
  void early_arrived(const Key& key);
  void finish(Receive& receive, Tag& tag);

  std::map<std::int32_t, Tag> tags_;
  std::map<Key, Early> early_;
  std::string problem_;
};

}  // namespace trigram::net
