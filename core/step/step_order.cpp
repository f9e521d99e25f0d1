#include "core/step/step_order.hpp"

#include <algorithm>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

const char* name_of(Hook hook) {
  constexpr const char* names[] = {"'setup'", "'begin'", "'bucket_ready'", "'before_update'", "", "'end'", "'finish'"};
  return names[static_cast<std::size_t>(hook)];
}

template <class Index>
std::string of_bucket(Index index) {
  return "'bucket_ready' of bucket " + std::to_string(index);
}

/// A bucket of which no tensors are known waits for itself.
std::size_t awaited(const Bucket& bucket) { return std::max<std::size_t>(1, bucket.tensors.size()); }

}  // namespace

StepOrder::StepOrder(int rank, std::span<const Bucket> buckets, std::string update)
    : rank_(rank), buckets_(buckets), update_(std::move(update)) {
  for (const Bucket& bucket : buckets_) missing_.push_back(awaited(bucket));
}

void StepOrder::find_tensors() {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    for (std::size_t t = 0; t < buckets_[b].tensors.size(); ++t) {
      const auto parameter = static_cast<std::size_t>(buckets_[b].tensors[t].parameter);
      if (places_.size() <= parameter) places_.resize(parameter + 1);
      places_[parameter] = Place{b, t, false};
    }
  }
}

template <class Text>
void StepOrder::expect(Hook hook, const Text& came) {
  const bool ends = hook == Hook::finish && next_ == Hook::begin;
  ensure(
      next_ == hook || ends, [&] { return where(); }, came, " was called, but ", [&] { return what_comes(); });
}

void StepOrder::enter(Hook hook) {
  expect(hook, [&] { return hook == Hook::update ? update_ : std::string(name_of(hook)); });
  last_ = hook;
  next_.reset();
}

void StepOrder::enter_begin(std::int64_t step) {
  const auto came = [&] { return "'begin' of step " + std::to_string(step); };
  expect(Hook::begin, came);
  ensure(
      step > step_, [&] { return where(); }, came, " was called, but steps count upwards: the next one must be beyond ",
      step_);
  enter(Hook::begin);
  step_ = step;
  next_bucket_ = 0;
  for (std::size_t b = 0; b < buckets_.size(); ++b) missing_[b] = awaited(buckets_[b]);
  for (auto& place : places_) {
    if (place) place->ready = false;
  }
}

void StepOrder::enter_tensor(int parameter) {
  if (places_.empty()) find_tensors();
  const auto index = static_cast<std::size_t>(parameter);
  ensure(
      parameter >= 0 && index < places_.size() && places_[index], [&] { return where(); }, "'tensor_ready' of tensor ",
      parameter, " was called, but no bucket has that tensor; there are ", places_.size(), ", counted from 0");
  Place& place = *places_[index];
  const auto came = [&] {
    return "'tensor_ready' of tensor " + in_quotes(buckets_[place.bucket].tensors[place.tensor].name) + " in bucket " +
           std::to_string(place.bucket);
  };
  const bool in_backward = next_ == Hook::gradient || next_ == Hook::before_update;
  ensure(
      !in_backward || (!place.ready && place.bucket >= next_bucket_), [&] { return where(); }, came,
      " was called twice; call it once per step");
  expect(Hook::gradient, came);
  enter(Hook::gradient);
  place.ready = true;
  --missing_[place.bucket];
}

void StepOrder::enter_bucket(int index) {
  const auto came = [&] { return of_bucket(index); };
  expect(Hook::gradient, came);
  ensure(
      index >= 0 && static_cast<std::size_t>(index) == next_bucket_, [&] { return where(); }, came, " was called, but ",
      [&] { return what_comes(); });
  enter(Hook::gradient);
  missing_[next_bucket_] = 0;
}

void StepOrder::enter_rest() {
  if (next_ == Hook::before_update) return;  // nothing is left
  expect(Hook::gradient, "'rest_ready'");
  enter(Hook::gradient);
  std::fill(missing_.begin() + static_cast<std::ptrdiff_t>(next_bucket_), missing_.end(), 0);
}

std::optional<std::size_t> StepOrder::take_complete() {
  if (next_bucket_ == buckets_.size() || missing_[next_bucket_] > 0) return std::nullopt;
  return next_bucket_++;
}

void StepOrder::leave() {
  if (last_ != Hook::finish) next_ = after(last_);
}

void StepOrder::require_between_steps(const char* came) const {
  ensure(
      next_ == Hook::begin, [&] { return where(); }, came, " was called, which is for between two steps, but ",
      [&] { return what_comes(); });
}

void StepOrder::abandon() noexcept {
  abandoned_ = true;
  next_.reset();
}

Hook StepOrder::after(Hook hook) const {
  const bool all_ready = next_bucket_ == buckets_.size();
  switch (hook) {
    case Hook::setup:
    case Hook::end:
      return Hook::begin;
    case Hook::begin:
    case Hook::gradient:
      return all_ready ? Hook::before_update : Hook::gradient;
    case Hook::before_update:
      return Hook::update;
    default:
      return Hook::end;
  }
}

std::string StepOrder::what_comes() const {
  if (abandoned_) return "the loop has left with an error, so that nothing follows";
  if (!next_) {
    if (last_ == Hook::finish) return "the training has finished, so that nothing follows";
    return (last_ == Hook::update ? update_ : name_of(last_)) + std::string(" has failed, so that nothing follows");
  }
  if (*next_ == Hook::update) return update_ + " must be called next";
  if (*next_ == Hook::gradient) return of_bucket(next_bucket_) + " must be called next" + missing_tensors();
  return name_of(*next_) + std::string(*next_ == Hook::setup ? " must be called first" : " must be called next");
}

std::string StepOrder::missing_tensors() const {
  constexpr std::size_t shown = 4;
  std::string text;
  std::size_t count = 0;
  for (const Tensor& tensor : buckets_[next_bucket_].tensors) {
    const bool ready = !places_.empty() && places_[static_cast<std::size_t>(tensor.parameter)]->ready;
    if (ready || ++count > shown) continue;
    text += (text.empty() ? ", which waits for " : ", ") + in_quotes(tensor.name);
  }
  return count > shown ? text + " and " + std::to_string(count - shown) + " more" : text;
}

std::string StepOrder::where() const {
  const std::string step = step_ < 0 ? "before the first step" : "step " + std::to_string(step_);
  return "rank " + std::to_string(rank_) + ", " + step + ": ";
}

}  // namespace trigram
