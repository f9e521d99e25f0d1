// Convolution of images [samples, channels, height, width] with filters [filters, channels, rows, columns], as PyTorch
// defines it:
//   y[n, f, i, j] = Σ over c, r, s of x[n, c, i·stride + r − padding, j·stride + s − padding] · w[f, c, r, s]
// with 0 outside the image. Of one sample at a time the pixels under each place of the filters become the columns of a
// matrix (Chellapilla et al., IWFHR 2006), and the device's matrix product does the rest:
//   y = w · columns,  ∂w = Σ over samples of ∂y · columnsᵀ,  ∂x = wᵀ · ∂y, each column added to where it came from.
#pragma once

#include "core/step/operation.hpp"

namespace trigram {

/// Lengths of one convolution.
struct Convolution {
  std::int64_t samples = 0, channels = 0, height = 0, width = 0;
  std::int64_t filters = 0, rows = 0, columns = 0;
  std::int64_t stride = 1, padding = 0;

  std::int64_t out_height() const { return (height + 2 * padding - rows) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - columns) / stride + 1; }
  std::int64_t image() const { return channels * height * width; }    ///< elements of one sample
  std::int64_t places() const { return out_height() * out_width(); }  ///< of a filter on an image
  std::int64_t filter() const { return channels * rows * columns; }   ///< elements of one filter
};

/// Parameters, shapes, work, and the products; a kind of device brings what spreads images and gathers gradients.
class Conv2dModel : public Operation {
 public:
  explicit Conv2dModel(Params& params)
      : stride_(params.get("stride", std::int64_t{1}, "pixels between two places of a filter", {1, most})),
        padding_(params.get("padding", std::int64_t{0}, "zeros around the image, on each side", {0, most})) {}
  static Description description() { return {"convolution of images with filters, by matrix products"}; }

  std::vector<OperationInput> inputs() const override { return {{"images"}, {"filters"}}; }

  OperationShapes shapes(const TensorShapes& inputs) const override {
    const Dimensions &images = inputs[0].dimensions, &filters = inputs[1].dimensions;
    for (const TensorShape& input : inputs) require(input.dtype == DType::f32, "images and filters must be f32");
    require(images.size() == 4, "images must be [samples, channels, height, width]");
    require(filters.size() == 4, "filters must be [filters, channels, rows, columns]");
    require(images[1] == filters[1], "images have ", images[1], " channels, filters ", filters[1]);
    require(inputs[1].count() > 0, "there must be a filter, and each must have an element");
    require(images[2] + 2 * padding_ >= filters[2] && images[3] + 2 * padding_ >= filters[3],
            "a filter is larger than the image with a padding of ", padding_);
    const Convolution made = of(inputs);
    return {.outputs = {{{made.samples, made.filters, made.out_height(), made.out_width()}}},
            .scratch = TensorShape{{made.filter(), made.places()}}.count()};
  }

  /// What a library's kernel touches, which spreads no image in memory.
  OperationWork work(const TensorShapes& inputs) const override {
    const TensorShape out = shapes(inputs).outputs[0];
    const KernelCost each{2 * static_cast<double>(out.count()) * static_cast<double>(of(inputs).filter()),
                          inputs[0].bytes() + inputs[1].bytes() + out.bytes()};
    return {each, {each, each}};
  }

  std::vector<TensorShapes> trials() const override {
    const auto trial = [](const Dimensions& images, const Dimensions& filters) {
      return TensorShapes{{images}, {filters}};
    };
    return {trial({2, 3, 8, 7}, {4, 3, 3, 2}), trial({1, 1, 5, 5}, {1, 1, 1, 1}), trial({3, 2, 9, 9}, {5, 2, 5, 5}),
            trial({0, 2, 6, 6}, {3, 2, 3, 3})};
  }

 protected:
  /// columns[(c, r, s)][(i, j)] = the pixel of `image` under place (i, j) of a filter's element (c, r, s).
  virtual void spread(Kernels& kernels, const Convolution& made, Buffer image, Buffer columns) const = 0;
  /// Each pixel of `image` becomes the sum of the columns' elements that `spread` takes from it, by (r, s) ascending.
  virtual void gather(Kernels& kernels, const Convolution& made, Buffer columns, Buffer image) const = 0;

 private:
  static constexpr std::int64_t most = 1 << 20;

  Convolution of(const TensorShapes& inputs) const {
    const Dimensions &images = inputs[0].dimensions, &filters = inputs[1].dimensions;
    return {images[0], images[1], images[2], images[3], filters[0], filters[2], filters[3], stride_, padding_};
  }
  static Buffer sample(const Buffer& all, std::int64_t index, std::int64_t elements) {
    return all.slice(index * elements, elements);
  }

  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const final {
    const Convolution made = of(inputs);
    const Buffer columns = memory.scratch.slice(0, made.filter() * made.places());
    for (std::int64_t n = 0; n < made.samples; ++n) {
      spread(kernels, made, sample(memory.inputs[0], n, made.image()), columns);
      kernels.gemm({.m = made.filters, .n = made.places(), .k = made.filter()}, memory.inputs[1], columns,
                   sample(memory.outputs[0], n, made.filters * made.places()));
    }
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const final {
    const Convolution made = of(inputs);
    const Buffer columns = memory.scratch.slice(0, made.filter() * made.places());
    const Buffer images = memory.input_gradients[0], filters = memory.input_gradients[1];
    if (!filters.empty() && made.samples == 0) kernels.fill(filters, 0);
    for (std::int64_t n = 0; n < made.samples; ++n) {
      const Buffer above = sample(memory.output_gradients[0], n, made.filters * made.places());
      if (!filters.empty()) {
        spread(kernels, made, sample(memory.inputs[0], n, made.image()), columns);
        kernels.gemm({.m = made.filters,
                      .n = made.filter(),
                      .k = made.places(),
                      .transpose_b = true,
                      .beta = n == 0 ? 0.0F : 1.0F},
                     above, columns, filters);
      }
      if (images.empty()) continue;
      kernels.gemm({.m = made.filter(), .n = made.places(), .k = made.filters, .transpose_a = true}, memory.inputs[1],
                   above, columns);
      gather(kernels, made, columns, sample(images, n, made.image()));
    }
  }

  std::int64_t stride_, padding_;
};

}  // namespace trigram
