// A small decoder-only transformer that learns to continue a text, character by character.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/memory.hpp"
#include "core/values/quoted.hpp"
#include "experiments/workloads/data/batches.hpp"
#include "experiments/workloads/data/character_text.hpp"
#include "experiments/workloads/networks/decoder.hpp"

namespace trigram {
namespace {

constexpr std::int64_t held_out_part = 6;      // of the training text with validation, as of a classifier's samples
constexpr std::int64_t stretches = 16;         // of the training text, which label skew deals as it deals classes
constexpr std::int64_t scored_at_once = 4096;  // characters

template <class T>
double downloaded(Device& device, Buffer one) {
  T value{};
  device.download(one, std::as_writable_bytes(std::span(&value, 1)));
  return static_cast<double>(value);
}

/// A sample is a window of `context` characters, anywhere in the training text; each of its characters is to predict
/// the next. Batches are put together on the host, as a classifier's are.
class Transformer final : public Workload {
 public:
  explicit Transformer(Params& params)
      : owner_(params.owner()),
        path_(
            params.get("text", "", "file of the text, gzip or plain; empty: the Shakespeare that comes with trigram")),
        batch_(params.get("batch", std::int64_t{16}, "windows a step over all ranks, unless the run says",
                          {1, 1'000'000'000})),
        score_samples_(params.get("score_samples", std::int64_t{128},
                                  "loss and accuracy are taken over so many windows, evenly spread; 0: over all",
                                  {.least = 0})) {
    sizes_.blocks = params.get("layers", std::int64_t{2}, "blocks of attention and feed-forward", {1, 256});
    sizes_.width = params.get("width", std::int64_t{64}, "features of a character", {1, 1 << 16});
    sizes_.heads = params.get("heads", std::int64_t{4}, "of each attention; they divide the width", {1, 1 << 16});
    sizes_.context = params.get("context", std::int64_t{64}, "characters of a window", {1, 1 << 20});
    require(sizes_.width % sizes_.heads == 0, owner_, ": a width of ", sizes_.width, " cannot be cut into ",
            sizes_.heads, " heads");
  }

  void open(const Shard& shard) override;
  std::vector<Parameter> parameters() const override { return decoder_parameters(sizes_); }
  int layers() const override { return sizes_.layers(); }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return global_batch_; }
  std::int64_t local_batch() const override { return batches_->local_batch(); }
  double memory() const override {
    return static_cast<double>(size_of(DType::f32)) * static_cast<double>(local_batch()) *
           Decoder::elements_a_sequence(sizes_);
  }
  std::string description() const override {
    return "transformer " + std::to_string(sizes_.blocks) + "x" + std::to_string(sizes_.width) + " on " + text_->name;
  }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override;
  void forward(Worker& worker) override;
  void backward(Worker& worker, int layer) override;
  Buffer loss() const override { return loss_; }

  std::optional<double> objective(Device& device, const HostWeights& weights) override {
    return score(device, weights, shard_.validation ? held_out() : Stretch{0, trained_}).loss;
  }
  double accuracy(Device& device, const HostWeights& weights) override {
    return score(device, weights, held_out()).accuracy;
  }

 private:
  /// Characters [begin, end) of the text.
  struct Stretch {
    std::int64_t begin, end;
  };
  struct Score {
    double loss, accuracy;
  };
  /// Windows by their first characters: what they hold, and what follows each of it.
  struct Windows {
    std::vector<std::int32_t> characters, next;
  };

  Stretch held_out() const {
    return shard_.validation ? Stretch{trained_, text_->training} : Stretch{text_->training, text_->count()};
  }
  Windows windows(std::span<const std::int64_t> begins) const;
  TensorShapes predicted(std::int64_t sequences) const {
    return {{{sequences * sizes_.context, sizes_.characters}}, {{sequences * sizes_.context}, DType::i32}};
  }
  std::vector<std::int64_t> scored(const Stretch& stretch) const;
  Score score(Device& device, const HostWeights& weights, const Stretch& stretch) const;

  std::string owner_, path_;
  std::int64_t batch_, score_samples_;
  DecoderSizes sizes_;

  std::shared_ptr<const CharacterText> text_;
  Shard shard_;
  std::int64_t global_batch_ = 0;
  std::int64_t trained_ = 0;  ///< characters before the held-out ones
  std::unique_ptr<Batches> batches_;

  std::vector<ParameterView> views_;
  std::vector<Buffer> weights_;
  std::unique_ptr<Decoder> decoder_;  ///< empty where the shard is
  OwnedBuffer next_, loss_;
  std::optional<AppliedOperation> cross_entropy_;  ///< of a local batch
};

void Transformer::open(const Shard& shard) {
  try {
    text_ = shared_text(path_);
  } catch (const UsageError& error) {
    throw UsageError(owner_ + ": text=" + error.what());
  }
  shard_ = shard;
  require(shard.global_batch >= 0, owner_, ": a global batch of ", shard.global_batch, " windows is negative");
  global_batch_ = shard.global_batch > 0 ? shard.global_batch : batch_;
  sizes_.characters = static_cast<std::int64_t>(text_->alphabet.size());
  trained_ = shard.validation ? text_->training - text_->training / held_out_part : text_->training;
  for (const Stretch& stretch : {Stretch{0, trained_}, held_out()}) {
    require(stretch.end - stretch.begin > sizes_.context, owner_, ": context=", sizes_.context, " takes more than ",
            sizes_.context, " characters to train and as many to test; the text ", shown(text_->name), " has ",
            trained_, " and ", held_out().end - held_out().begin);
  }
  const std::int64_t begins = trained_ - sizes_.context;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(begins));
  for (std::int64_t i = 0; i < begins; ++i)
    labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * stretches / begins);
  batches_ = std::make_unique<Batches>(labels, static_cast<int>(stretches), shard, global_batch_);
  constexpr double bytes_of_a_parameter = 8;  // a weight and its gradient
  require_memory(bytes_of_a_parameter * sizes_.elements(),
                 "a transformer of " + number_text(sizes_.elements()) + " parameters");
}

void Transformer::setup(Worker& worker, std::span<const ParameterView> parameters) {
  views_.assign(parameters.begin(), parameters.end());
  weights_.clear();
  const HostWeights initial = initial_decoder(sizes_, shard_.seed);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    weights_.push_back(views_[i].weights);
    worker.device.upload(std::as_bytes(std::span(initial[i])), views_[i].weights);
  }
  loss_ = worker.device.allocate(Shape::of(1, DType::f32));
  if (local_batch() == 0) return;
  decoder_ = std::make_unique<Decoder>(worker.device, sizes_, local_batch(), true);
  next_ = worker.device.allocate(Shape::of(local_batch() * sizes_.context, DType::i32));
  // The mean over ranks of world/predicted · Σ over the local batch is the mean over the global batch.
  const double scale =
      static_cast<double>(shard_.world) / static_cast<double>(global_batch_) / static_cast<double>(sizes_.context);
  cross_entropy_.emplace(worker.device, "cross_entropy:scale=" + number_text(scale), predicted(local_batch()));
}

Transformer::Windows Transformer::windows(std::span<const std::int64_t> begins) const {
  Windows windows;
  for (const std::int64_t begin : begins) {
    const auto first = text_->characters.begin() + begin;
    windows.characters.insert(windows.characters.end(), first, first + sizes_.context);
    windows.next.insert(windows.next.end(), first + 1, first + sizes_.context + 1);
  }
  return windows;
}

void Transformer::forward(Worker& worker) {
  if (local_batch() == 0) return worker.device.fill(loss_, 0);
  const Windows batch = windows(batches_->indices(worker.step));
  worker.device.upload(std::as_bytes(std::span(batch.characters)), decoder_->characters());
  worker.device.upload(std::as_bytes(std::span(batch.next)), next_);
  decoder_->forward(worker.device, weights_);
  const Buffer logits = decoder_->logits();
  cross_entropy_->forward(worker.device, {.inputs = {logits, next_}, .outputs = {loss_}, .saved = {logits}});
}

void Transformer::backward(Worker& worker, int layer) {
  if (local_batch() > 0) return decoder_->backward(worker.device, layer, views_);
  const std::vector<Parameter> all = parameters();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].layer == layer) worker.device.fill(views_[i].gradients, 0);
  }
}

/// Where the scored windows of a stretch begin: side by side, or spread evenly.
std::vector<std::int64_t> Transformer::scored(const Stretch& stretch) const {
  const std::int64_t all = (stretch.end - stretch.begin - 1) / sizes_.context;
  const std::int64_t count = score_samples_ > 0 ? std::min(score_samples_, all) : all;
  std::vector<std::int64_t> begins;
  for (std::int64_t i = 0; i < count; ++i) begins.push_back(stretch.begin + i * all / count * sizes_.context);
  return begins;
}

/// Costs no simulated time. A model that has diverged gets nothing right.
Transformer::Score Transformer::score(Device& device, const HostWeights& weights, const Stretch& stretch) const {
  const Device::Uncharged uncharged(device);
  std::vector<OwnedBuffer> memory;
  for (const std::vector<float>& tensor : weights) {
    memory.push_back(device.allocate(Shape::of(static_cast<std::int64_t>(tensor.size()), DType::f32)));
    device.upload(std::as_bytes(std::span(tensor)), memory.back());
  }
  const std::vector<Buffer> on_device(memory.begin(), memory.end());
  const OwnedBuffer loss = device.allocate(Shape::of(1, DType::f32)),
                    correct = device.allocate(Shape::of(1, DType::i64));
  const std::vector<std::int64_t> begins = scored(stretch);
  std::unique_ptr<Decoder> decoder;
  double total_loss = 0, total_correct = 0;
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, scored_at_once / sizes_.context));
  std::int64_t room = 0;
  for (std::size_t first = 0; first < begins.size(); first += most) {
    const std::span<const std::int64_t> some = std::span(begins).subspan(first, std::min(most, begins.size() - first));
    const Windows batch = windows(some);
    const auto sequences = static_cast<std::int64_t>(some.size());
    if (sequences != std::exchange(room, sequences))
      decoder = std::make_unique<Decoder>(device, sizes_, sequences, false);
    const OwnedBuffer next = device.allocate(Shape::of(sequences * sizes_.context, DType::i32));
    device.upload(std::as_bytes(std::span(batch.characters)), decoder->characters());
    device.upload(std::as_bytes(std::span(batch.next)), next);
    decoder->forward(device, on_device);
    const Buffer logits = decoder->logits();
    AppliedOperation(device, "count_correct", predicted(sequences))
        .forward(device, {.inputs = {logits, next}, .outputs = {correct}});
    AppliedOperation(device, "cross_entropy", predicted(sequences))
        .forward(device, {.inputs = {logits, next}, .outputs = {loss}, .saved = {logits}});
    total_correct += downloaded<std::int64_t>(device, correct);
    total_loss += downloaded<float>(device, loss);
  }
  if (!std::isfinite(total_loss)) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const auto count = static_cast<double>(begins.size()) * static_cast<double>(sizes_.context);
  return {total_loss / count, total_correct / count};
}

const Workloads::Registration registered("transformer",
                                         {"decoder that continues a text, character by character",
                                          "Radford et al., Language models are unsupervised multitask learners, 2019"},
                                         [](Params& params) { return std::make_unique<Transformer>(params); });

}  // namespace
}  // namespace trigram
