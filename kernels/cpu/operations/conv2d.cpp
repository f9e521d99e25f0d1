// Convolution on host memory.
#include "kernels/operations/conv2d.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.hpp"
#include "kernels/scalar.hpp"

namespace trigram {
namespace {

/// Places [begin, end) of a filter along one dimension of the image, where an element of it `offset` pixels from its
/// begin is inside.
struct Inside {
  std::int64_t begin, end;

  Inside(std::int64_t length, std::int64_t places, std::int64_t stride, std::int64_t offset)
      : begin(std::clamp<std::int64_t>(offset >= 0 ? 0 : (stride - 1 - offset) / stride, 0, places)),
        end(std::clamp<std::int64_t>(length > offset ? (length - offset - 1) / stride + 1 : 0, begin, places)) {}
};

/// body(row of the columns, row of pixels, first pixel, inside) for each element of a filter and each row of places;
/// the row of pixels is −1 above and below the image.
template <class Body>
TRIGRAM_RULE void over_rows(const Convolution& made, const Body& body) {
  std::int64_t at = 0;
  for (std::int64_t c = 0; c < made.channels; ++c) {
    for (std::int64_t r = 0; r < made.rows; ++r) {
      const Inside down(made.height, made.out_height(), made.stride, r - made.padding);
      for (std::int64_t s = 0; s < made.columns; ++s) {
        const Inside across(made.width, made.out_width(), made.stride, s - made.padding);
        for (std::int64_t i = 0; i < made.out_height(); ++i, at += made.out_width()) {
          const bool outside = i < down.begin || i >= down.end;
          const std::int64_t row = c * made.height + i * made.stride + r - made.padding;
          body(at, outside ? -1 : row * made.width, s - made.padding, across);
        }
      }
    }
  }
}

class Conv2d final : public Conv2dModel {
 public:
  using Conv2dModel::Conv2dModel;

 private:
  void spread(Kernels& kernels, const Convolution& made, Buffer image, Buffer columns) const override {
    const float* pixels = image.data<float>();
    float* to = columns.data<float>();
    vectorised(instructions_of(kernels), [=]() TRIGRAM_INLINE {
      over_rows(made, [=](std::int64_t at, std::int64_t row, std::int64_t first, Inside across) TRIGRAM_INLINE {
        const std::int64_t width = made.out_width(), begin = row < 0 ? width : across.begin;
        std::memset(to + at, 0, static_cast<std::size_t>(begin) * sizeof(float));
        for (std::int64_t j = begin; j < across.end; ++j) to[at + j] = pixels[row + first + j * made.stride];
        const std::int64_t end = std::max(begin, across.end);
        std::memset(to + at + end, 0, static_cast<std::size_t>(width - end) * sizeof(float));
      });
    });
  }

  void gather(Kernels& kernels, const Convolution& made, Buffer columns, Buffer image) const override {
    const float* from = columns.data<float>();
    float* pixels = image.data<float>();
    std::memset(pixels, 0, static_cast<std::size_t>(image.bytes()));
    vectorised(instructions_of(kernels), [=]() TRIGRAM_INLINE {
      over_rows(made, [=](std::int64_t at, std::int64_t row, std::int64_t first, Inside across) TRIGRAM_INLINE {
        if (row < 0) return;
        for (std::int64_t j = across.begin; j < across.end; ++j) pixels[row + first + j * made.stride] += from[at + j];
      });
    });
  }
};

const Operations::Registration registration("cpu/conv2d", Conv2dModel::description(),
                                            [](Params& params) { return std::make_unique<Conv2d>(params); });

}  // namespace
}  // namespace trigram
