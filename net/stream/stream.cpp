#include "net/stream/stream.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace trigram::net {
namespace {

constexpr std::size_t buffer_bytes = 16 << 10;
constexpr std::array<std::byte, 16 << 10> zeros{};

void append(std::vector<std::byte>& bytes, const Frame& frame) {
  bytes.resize(bytes.size() + frame_bytes);
  write_frame(frame, FrameBytes(bytes.end() - frame_bytes, bytes.end()));
}

}  // namespace

void Stream::start(Socket socket) {
  *this = Stream();
  socket_ = std::move(socket);
  buffer_.resize(buffer_bytes);
}

void Stream::begin(const Frame& frame, const std::byte* bytes) {
  constexpr std::size_t short_bytes = 512;
  append(head_, frame);
  if (frame.length <= short_bytes) {
    head_.insert(head_.end(), bytes, bytes + frame.length);
    return;
  }
  bytes_ = bytes;
  left_ = frame.length;
}

void Stream::add(const Frame& frame) { append(left_ > 0 ? after_ : head_, frame); }

Moved Stream::flush() {
  while (!idle()) {
    const std::size_t head = head_.size() - head_written_;
    const std::byte* bytes = bytes_ ? bytes_ : zeros.data();
    const iovec parts[] = {{head_.data() + head_written_, head},
                           {const_cast<std::byte*>(bytes), bytes_ ? left_ : std::min(left_, zeros.size())}};
    std::size_t written = 0;
    const Moved moved = socket_.send({parts, left_ > 0 ? 2U : 1U}, written);
    if (moved != Moved::some) return moved;
    carried_ += written;
    const std::size_t of_head = std::min(head, written);
    head_written_ += of_head;
    if (bytes_) bytes_ += written - of_head;
    left_ -= written - of_head;
    if (head_written_ < head_.size()) return Moved::nothing_yet;
    head_.clear();
    head_written_ = 0;
    if (left_ == 0) std::swap(head_, after_);
  }
  return Moved::some;
}

Moved Stream::read(FrameReceiver& receiver, std::size_t budget) {
  while (budget > 0) {
    Moved moved = Moved::some;
    if (in_chunk_) {
      moved = read_payload(receiver, budget);
    } else if (end_ - begin_ >= frame_bytes) {
      if (!take_frame(receiver)) return Moved::malformed;
    } else {
      moved = read_buffer(budget);
    }
    if (moved != Moved::some) return moved;
  }
  return Moved::some;
}

Moved Stream::read_buffer(std::size_t& budget) {
  if (std::exchange(drained_, false)) return Moved::nothing_yet;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  iovec part{buffer_.data() + end_, buffer_.size() - end_};
  std::size_t bytes = 0;
  const Moved moved = socket_.receive({&part, 1}, bytes);
  end_ += bytes;
  carried_ += bytes;
  drained_ = end_ < buffer_.size();
  budget -= std::min(budget, bytes);
  return moved;
}

bool Stream::take_frame(FrameReceiver& receiver) {
  const auto frame = read_frame(ConstFrameBytes(buffer_.data() + begin_, frame_bytes));
  if (!frame) return false;
  begin_ += frame_bytes;
  if (frame->kind != FrameKind::data) return receiver.control(*frame);
  bool discarded = false;
  if (!receiver.destination(*frame, discarded) && !discarded) return false;
  frame_ = *frame;
  read_ = 0;
  in_chunk_ = frame->length > 0;
  if (!in_chunk_) receiver.arrived(frame_);
  return true;
}

Moved Stream::read_payload(FrameReceiver& receiver, std::size_t& budget) {
  bool discarded = false;
  std::byte* to = receiver.destination(frame_, discarded);
  if (!to && !discarded) return Moved::malformed;
  take_buffered(to);
  if (read_ < frame_.length) {
    if (std::exchange(drained_, false)) return Moved::nothing_yet;
    std::size_t length = std::min<std::size_t>(frame_.length - read_, budget);
    if (!to) {
      unwanted_.resize(buffer_bytes);
      length = std::min(length, unwanted_.size());
    }
    // The next head comes with the end of this chunk, and no more, since what is read ahead is copied twice.
    iovec parts[] = {{to ? to + read_ : unwanted_.data(), length}, {buffer_.data(), frame_bytes}};
    std::size_t bytes = 0;
    const bool to_end = length == frame_.length - read_;
    const Moved moved = socket_.receive({parts, to_end ? 2U : 1U}, bytes);
    if (moved != Moved::some) return moved;
    carried_ += bytes;
    drained_ = bytes < length + (to_end ? frame_bytes : 0);
    budget -= std::min(budget, bytes);
    begin_ = 0;
    end_ = bytes - std::min(bytes, length);
    read_ += bytes - end_;
  }
  if (read_ == frame_.length) {
    in_chunk_ = false;
    receiver.arrived(frame_);
  }
  return Moved::some;
}

/// What was read ahead is the chunk's.
void Stream::take_buffered(std::byte* to) {
  const std::size_t bytes = std::min<std::size_t>(end_ - begin_, frame_.length - read_);
  if (to && bytes > 0) std::memcpy(to + read_, buffer_.data() + begin_, bytes);
  begin_ += bytes;
  read_ += bytes;
}

}  // namespace trigram::net
