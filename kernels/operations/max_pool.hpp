// Max pooling of images [samples, channels, height, width], as PyTorch defines it without padding:
//   y[n, c, i, j] = the largest of x[n, c, i·stride … i·stride + size − 1, j·stride … j·stride + size − 1]
// Of equal ones the first counts, by rows; a NaN counts as the largest. What is left over at the lower and right edge
// is not looked at. The gradient goes to where the largest was, which is saved as its place in the channel; windows
// that overlap add theirs in their order.
#pragma once

#include <limits>

#include "core/step/operation.hpp"

namespace trigram {

/// Lengths of one pooling. A plane is one channel of one sample.
struct Pooling {
  std::int64_t planes = 0, height = 0, width = 0;
  std::int64_t size = 1, stride = 1;

  std::int64_t out_height() const { return (height - size) / stride + 1; }
  std::int64_t out_width() const { return (width - size) / stride + 1; }
};

/// Parameters, shapes and work.
class MaxPoolModel : public Operation {
 public:
  explicit MaxPoolModel(Params& params)
      : size_(params.get("size", std::int64_t{2}, "height and width of a window", {1, most})),
        stride_(params.get("stride", std::int64_t{0}, "pixels between two windows; 0: its size", {0, most})) {
    if (stride_ == 0) stride_ = size_;
  }
  static Description description() { return {"the largest pixel of each window of an image"}; }

  std::vector<OperationInput> inputs() const override { return {{.name = "images", .compared = true}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    const Dimensions& images = inputs[0].dimensions;
    require(inputs[0].dtype == DType::f32, "images must be f32");
    require(images.size() == 4, "images must be [samples, channels, height, width]");
    require(images[2] >= size_ && images[3] >= size_, "a window of ", size_, " is larger than the image");
    require(TensorShape{{images[2], images[3]}}.count() <= std::numeric_limits<std::int32_t>::max(),
            "an image must have less than 2^31 pixels");
    const Pooling made = of(inputs);
    const Dimensions out{images[0], images[1], made.out_height(), made.out_width()};
    return {.outputs = {{out}}, .saved = {{out, DType::i32}}};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    const TensorShape out = shapes(inputs).outputs[0];
    const double touched = inputs[0].bytes() + 2 * out.bytes();
    return {{static_cast<double>(size_ * size_ * out.count()), touched}, {{static_cast<double>(out.count()), touched}}};
  }
  std::vector<TensorShapes> trials() const override {
    return {{{{2, 3, 6, 5}}}, {{{1, 1, 9, 3}}}, {{{1, 2, 3, 3}}}, {{{0, 2, 4, 4}}}};
  }

 protected:
  Pooling of(const TensorShapes& inputs) const {
    const Dimensions& images = inputs[0].dimensions;
    return {images[0] * images[1], images[2], images[3], size_, stride_};
  }

 private:
  static constexpr std::int64_t most = 1 << 20;

  std::int64_t size_, stride_;
};

}  // namespace trigram
