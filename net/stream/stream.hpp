// One connection of a communicator: frames in and out, as far as its socket takes them.
#pragma once

#include <cstddef>
#include <vector>

#include "net/connection/socket.hpp"
#include "net/stream/frame.hpp"

namespace trigram::net {

/// Who a stream's frames are for.
class FrameReceiver {
 public:
  virtual ~FrameReceiver() = default;
  /// Where the bytes of a chunk go; asked again before each part of it is written. `discarded`: they are not wanted.
  virtual std::byte* destination(const Frame& frame, bool& discarded) = 0;
  /// A chunk is whole, in its destination or discarded.
  virtual void arrived(const Frame& frame) = 0;
  /// A frame without bytes. False if there cannot be such a one here.
  virtual bool control(const Frame& frame) = 0;
};

class Stream {
 public:
  void start(Socket socket);
  void stop() { socket_.close(); }
  bool open() const { return socket_.open(); }
  const Socket& socket() const { return socket_; }

  /// Whether the last frame is written to its end, so that another may begin.
  bool idle() const { return head_.empty() && left_ == 0; }
  /// Bytes of the last chunk that are not written.
  std::size_t unwritten() const { return left_; }
  /// Begins a chunk whose bytes lie at `bytes` until it is written. Only when it is idle.
  void begin(const Frame& frame, const std::byte* bytes);
  /// What is left of the chunk goes as zeros: its bytes are about to be another's.
  void forget_bytes() { bytes_ = nullptr; }
  /// Adds a frame without bytes, after the chunk that is being written.
  void add(const Frame& frame);
  /// Writes what there is: `some` if nothing is left.
  Moved flush();

  /// Reads what there is, of about `budget` bytes, and hands it on. `some` if it stopped at the budget.
  Moved read(FrameReceiver& receiver, std::size_t budget);
  /// Bytes both ways, since it was started.
  std::uint64_t carried() const { return carried_; }

 private:
  Moved read_payload(FrameReceiver& receiver, std::size_t& budget);
  Moved read_buffer(std::size_t& budget);
  bool take_frame(FrameReceiver& receiver);
  void take_buffered(std::byte* to);

  Socket socket_;
  std::uint64_t carried_ = 0;
  // Out: heads and frames without bytes, then bytes of a chunk, then frames that wait for its end.
  std::vector<std::byte> head_;
  std::size_t head_written_ = 0;
  const std::byte* bytes_ = nullptr;
  std::size_t left_ = 0;
  std::vector<std::byte> after_;
  // In: what was read ahead, and the chunk that is being read.
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool drained_ = false;  ///< the last call of the kernel gave all that it had
  bool in_chunk_ = false;
  Frame frame_;
  std::size_t read_ = 0;
  std::vector<std::byte> unwanted_;
};

}  // namespace trigram::net
