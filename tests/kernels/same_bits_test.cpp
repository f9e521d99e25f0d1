// Every operation of the tested kind against the plain host, bit for bit: sizes around every boundary, slices at odd
// addresses, and values where arithmetic is special.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "core/step/operation.hpp"
#include "kernels/scalar.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::same_bits_test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

// The last has what kernels do at once whole, and of what is left behind it four steps of most threads: in wide
// accesses of f32 and of halves, and one by one.
constexpr std::int64_t counts[] = {1, 3, 30, 31, 32, 33, 255, 1024, 4095, 4096, 4097, 3 * 8192 - 163};
constexpr std::int64_t offsets[] = {0, 1, 4};  // elements before the slice: wide accesses allowed, not, and again

/// `count` values of which some are NaN, infinite, zero of either sign, subnormal or huge. They are an odd number, so
/// that each comes to every place of a wide access, and begin otherwise for another seed.
Floats special_vector(std::int64_t count, std::uint64_t seed) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {std::nanf(""), infinity, -infinity, 0.0F,      -0.0F, 1e-40F,    -3e-42F,
                           3e38F,         -3.3e38F, 65520.0F,  -65504.0F, 6e-8F, 65519.996F};
  Floats x = random_vector(count, seed);
  for (std::size_t i = 0; i < x.size(); i += 7) x[i] = special[(i / 7 + seed) % std::size(special)];
  return x;
}

/// What `bytes` mean as elements of `dtype`: every NaN is one and the same, since arithmetic chooses its bits freely.
std::vector<std::uint64_t> meaning(const Bytes& bytes, DType dtype) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  std::vector<std::uint64_t> elements(bytes.size() / size);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(&elements[i], bytes.data() + i * size, size);
    const auto half = static_cast<std::uint16_t>(elements[i]);
    const bool is_nan = (dtype == DType::f32 && (elements[i] & 0x7fffffffU) > 0x7f800000U) ||
                        (dtype == DType::f16 && std::isnan(scalar::to_f32(scalar::F16{half}))) ||
                        (dtype == DType::bf16 && std::isnan(scalar::to_f32(scalar::BF16{half})));
    if (is_nan) elements[i] = ~std::uint64_t{0};
  }
  return elements;
}

/// A device and the buffers of one case, which lie alike on both devices.
class Side {
 public:
  Side(TestDevice& on, std::int64_t offset) : device(on), offset_(offset) {}

  /// A slice that begins `offset` elements into its memory.
  Buffer hold(const Floats& values, DType dtype = DType::f32) {
    const auto count = static_cast<std::int64_t>(values.size());
    owned_.push_back(device.allocate(Shape::of(count + offset_ + 1, dtype)));
    const Buffer slice = owned_.back().view().slice(offset_, count);
    Bytes bytes(static_cast<std::size_t>(slice.bytes()));
    for (std::size_t i = 0; i < values.size(); ++i) put(values[i], dtype, bytes, i);
    device.upload(std::as_bytes(std::span(bytes)), slice);
    return slice;
  }
  Buffer room(const TensorShape& shape) {
    owned_.push_back(device.allocate(Shape::of(shape.count() + offset_, shape.dtype)));
    return owned_.back().view().slice(offset_, shape.count());
  }
  /// All that was held, with the elements before each slice and behind it.
  const std::vector<OwnedBuffer>& memory() const { return owned_; }
  Bytes bytes(const Buffer& buffer) {
    Bytes host(static_cast<std::size_t>(buffer.bytes()));
    device.download(buffer, std::as_writable_bytes(std::span(host)));
    return host;
  }

  TestDevice& device;

 private:
  static void put(float value, DType dtype, Bytes& bytes, std::size_t i) {
    const auto size = static_cast<std::size_t>(size_of(dtype));
    std::uint64_t element = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(std::isfinite(value) ? 1e9F * std::remainder(value, 1.0F) : 7.0F));
    if (dtype == DType::f32) element = std::bit_cast<std::uint32_t>(value);
    if (dtype == DType::f16) element = scalar::to_f16(value).bits;
    if (dtype == DType::bf16) element = scalar::to_bf16(value).bits;
    std::memcpy(bytes.data() + i * size, &element, size);
  }

  std::int64_t offset_;
  std::vector<OwnedBuffer> owned_;
};

class SameBits : public testing::Test {
 protected:
  TestDevice tested_;
  TestDevice plain_{Instructions::portable};

  /// Runs `body(side, count)` on both kinds for all sizes and addresses: all that was held has to be the same
  /// afterwards, with the elements before each slice and behind it.
  void expect_same(const std::function<void(Side&, std::int64_t)>& body) {
    for (const std::int64_t count : counts) {
      for (const std::int64_t offset : offsets) {
        SCOPED_TRACE(std::to_string(count) + " at " + std::to_string(offset));
        Side tested(tested_, offset), plain(plain_, offset);
        body(tested, count);
        body(plain, count);
        for (std::size_t i = 0; i < tested.memory().size(); ++i) {
          const DType dtype = tested.memory()[i].view().dtype();
          const Bytes here = tested.bytes(tested.memory()[i]), there = plain.bytes(plain.memory()[i]);
          if (here == there) continue;
          ASSERT_EQ(meaning(here, dtype), meaning(there, dtype)) << "buffer " << i;
        }
      }
    }
  }
};

constexpr DType floating[] = {DType::f32, DType::f16, DType::bf16};

TEST_F(SameBits, Elementwise) {
  for (const DType dtype : floating) {
    expect_same([&](Side& side, std::int64_t count) {
      const Buffer x = side.hold(special_vector(count, 1), dtype), y = side.hold(special_vector(count, 5), dtype);
      const Buffer z = side.hold(special_vector(count, 3), dtype), filled = side.hold(Floats(x.count()), dtype);
      side.device.axpby(0.7F, x, -0.6F, y);
      side.device.scale(z, 0.3F);
      side.device.fill(filled, -2.7);
    });
  }
}

TEST_F(SameBits, Pairwise) {
  for (const DType dtype : floating) {
    expect_same([&](Side& side, std::int64_t count) {
      const Buffer x = side.hold(special_vector(count, 1), dtype), product = side.hold(special_vector(count, 5), dtype);
      const Buffer quotient = side.hold(special_vector(count, 3), dtype),
                   root = side.hold(special_vector(count, 7), dtype);
      const Buffer sum = side.hold(special_vector(count, 2), dtype), third = side.hold(Floats{1.0F / 3}, DType::f32),
                   three = side.hold(Floats{3.0F}, DType::f32);
      side.device.multiply(x, product);
      side.device.divide(x, quotient);
      side.device.root(root);
      side.device.divide(three, root);
      side.device.multiply(third, quotient);
      side.device.add_scaled(third, x, sum);
    });
  }
}

TEST_F(SameBits, Fill) {
  for (const DType dtype : {DType::u8, DType::i32, DType::i64}) {
    expect_same([&](Side& side, std::int64_t count) {
      const Buffer x = side.hold(Floats(static_cast<std::size_t>(count)), dtype);
      side.device.fill(x, 77);
    });
  }
}

TEST_F(SameBits, WholeQuotients) {
  for (const DType dtype : {DType::u8, DType::i32, DType::i64}) {
    expect_same([&](Side& side, std::int64_t count) {
      const Buffer x = side.hold(random_vector(count, 1), dtype);
      side.device.divide_whole(x, 7);
    });
  }
}

TEST_F(SameBits, NormalNumbers) {
  expect_same([&](Side& side, std::int64_t count) {
    const Buffer x = side.hold(Floats(static_cast<std::size_t>(count)));
    side.device.fill_normal(x, {.seed = 3, .step = 7, .rank = 2, .bucket = 1, .chunk = 5, .phase = Phase::algorithm});
  });
}

// More matrices than one launch takes; of each third one the last column depends on the first; more rows than one tree
// block and one partial have.
TEST_F(SameBits, OrthonormalColumns) {
  const auto run = [](TestDevice& device) {
    Side side(device, 1);
    std::vector<TallMatrix> matrices;
    for (std::int64_t m = 0; m < 170; ++m) {
      const std::int64_t columns = 1 + m % 5, rows = m >= 102 && m < 105 ? 40001 : m == 101 ? 4097 : columns + m % 37;
      Floats x = random_vector(rows * columns, static_cast<std::uint64_t>(m));
      if (m % 3 == 0)
        for (std::int64_t row = 0; row < rows; ++row)
          x[static_cast<std::size_t>((row + 1) * columns - 1)] = 3 * x[static_cast<std::size_t>(row * columns)];
      matrices.push_back({side.hold(x), columns, columns});
    }
    device.orthonormalise(matrices);
    std::vector<Bytes> bytes;
    for (const TallMatrix& matrix : matrices) bytes.push_back(side.bytes(matrix.values));
    return bytes;
  };
  EXPECT_EQ(run(tested_), run(plain_));
}

TEST_F(SameBits, Reduce) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::u8, DType::i32, DType::i64}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::min, ReduceOp::max}) {
      expect_same([&](Side& side, std::int64_t count) {
        const Buffer x = side.hold(special_vector(count, 1), dtype), y = side.hold(special_vector(count + 1, 2), dtype);
        const Buffer alike = side.hold(special_vector(count, 3), dtype);
        side.device.reduce(op, x, y.slice(1, count));
        side.device.reduce(op, x, alike);
      });
    }
  }
}

TEST_F(SameBits, Convert) {
  for (const DType from : floating) {
    for (const DType to : floating) {
      expect_same([&](Side& side, std::int64_t count) {
        const Buffer x = side.hold(special_vector(count, 1), from),
                     y = side.hold(Floats(static_cast<std::size_t>(count)), to);
        side.device.convert(x, y);
      });
    }
  }
}

// More terms than one launch takes, and one of them is the result.
TEST_F(SameBits, WeightedSum) {
  for (const DType dtype : floating) {
    for (const int terms : {0, 1, 3, 300}) {
      expect_same([&](Side& side, std::int64_t count) {
        const std::int64_t small = std::min<std::int64_t>(count, 1024);
        std::vector<Buffer> x;
        Floats weights;
        for (int j = 0; j < terms; ++j) {
          x.push_back(side.hold(random_vector(small, static_cast<std::uint64_t>(j)), dtype));
          weights.push_back(0.01F * static_cast<float>(j) - 0.3F);
        }
        const Buffer y = terms == 3 ? x[1] : side.hold(random_vector(small, 9), dtype);
        side.device.weighted_sum(x, weights, y);
      });
    }
  }
}

TEST_F(SameBits, SumsByTheTree) {
  for (const std::int64_t count : {0, 1, 31, 33, 4095, 4097, 32768, 32769, 300007}) {
    Side tested(tested_, 1), plain(plain_, 1);
    const auto dot = [&](Side& side) {
      const Buffer result = side.hold({7.0F});
      side.device.dot(side.hold(random_vector(count, 1)), side.hold(random_vector(count, 2)), result);
      return side.bytes(result);
    };
    EXPECT_EQ(dot(tested), dot(plain)) << count;
  }
}

// Large terms cancel, so that what is left of the small ones depends on the order of every addition.
TEST_F(SameBits, SumsWhoseOrderShows) {
  for (const std::int64_t count : {1000, 4096, 40000, 300008}) {
    Floats x = random_vector(count, 3);
    const Floats exponents = random_vector(count / 2, 4);
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      x[i] = std::ldexp(x[i], static_cast<int>(60 * exponents[i]));
      x[exponents.size() + (7 * i + 5) % exponents.size()] = -x[i];
    }
    const auto dot = [&](TestDevice& device) {
      const OwnedBuffer result = device.hold({7.0F});
      device.dot(device.hold(x), device.hold(Floats(x.size(), 1.0F)), result);
      return device.values(result)[0];
    };
    EXPECT_NE(dot(plain_), 0.0F) << count;
    EXPECT_EQ(dot(tested_), dot(plain_)) << count;
  }
}

/// An operation forward on given inputs, into memory of its own.
struct Forward {
  std::vector<Buffer> outputs, saved;

  Forward(Side& side, const std::string& spec, const TensorShapes& shapes, const std::vector<Buffer>& inputs) {
    const AppliedOperation applied(side.device, spec, shapes);
    for (const TensorShape& shape : applied.outputs()) outputs.push_back(side.room(shape));
    for (const TensorShape& shape : applied.saved()) saved.push_back(side.room(shape));
    applied.forward(side.device, {inputs, outputs, saved, {}});
  }
};

TEST_F(SameBits, RowsAndColumns) {
  for (const std::int64_t columns : {1, 7, 64, 300}) {
    for (const std::int64_t offset : offsets) {
      Side tested(tested_, offset), plain(plain_, offset);
      const auto run = [&](Side& side) {
        const TensorShape shape{{37, columns}};
        const Buffer values = side.hold(special_vector(37 * columns, 1)), terms = side.hold(random_vector(columns, 5));
        const Buffer sums = side.hold(random_vector(columns, 2)), slope = side.hold(random_vector(37 * columns, 4));
        const Buffer rows = Forward(side, "bias", {shape, {{columns}}}, {values, terms}).outputs[0];
        const Buffer active = Forward(side, "relu", {shape}, {values}).outputs[0];
        AppliedOperation(side.device, "bias", {shape, {{columns}}})
            .backward(side.device, {{values, terms}, {rows}, {}, {rows}, {Buffer(), sums}});
        AppliedOperation(side.device, "relu", {shape})
            .backward(side.device, {{values}, {active}, {}, {slope}, {slope}});
        std::vector<std::int32_t> order(50);
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i * 29 % 37);
        const OwnedBuffer places = side.device.hold(order, DType::i32);
        const TensorShapes table{shape, {{50}, DType::i32}};
        const Buffer picked = Forward(side, "embedding", table, {rows, places}).outputs[0], added = side.room(shape);
        AppliedOperation(side.device, "embedding", table)
            .backward(side.device, {{rows, places}, {picked}, {}, {picked}, {added, Buffer()}});
        std::vector<std::vector<std::uint64_t>> all;
        for (const Buffer& buffer : {rows, sums, active, slope, picked, added})
          all.push_back(meaning(side.bytes(buffer), DType::f32));
        return all;
      };
      EXPECT_EQ(run(tested), run(plain)) << columns << " at " << offset;
    }
  }
}

// exp is the one function whose last bit differs between libraries.
TEST_F(SameBits, ClassificationWithinOneExponential) {
  for (const std::int64_t classes : {1, 2, 10, 33, 130}) {
    const std::int64_t rows = classes == 2 ? 33000 : 83;  // more than a warp adds, and a block
    std::vector<std::int64_t> labels(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::int64_t>(i * 7 % static_cast<std::size_t>(classes));
    Floats logits = random_vector(rows * classes, 1);
    for (float& logit : logits) logit = std::round(logit * 8) / 2;  // ties
    const auto run = [&](TestDevice& device) {
      Side side(device, 0);
      const OwnedBuffer which = device.hold(labels, DType::i64);
      const TensorShapes shapes{{{rows, classes}}, {{rows}, DType::i64}};
      const Forward counted(side, "count_correct", shapes, {side.hold(logits), which});
      const Forward loss(side, "cross_entropy:scale=0.25", shapes, {side.hold(logits), which});
      Floats all = device.values(loss.saved[0]);
      all.push_back(device.values(loss.outputs[0])[0]);
      all.push_back(static_cast<float>(device.values<std::int64_t>(counted.outputs[0])[0]));
      return all;
    };
    const Floats got = run(tested_), expected = run(plain_);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected[i], 1e-6F * std::max(1.0F, std::abs(expected[i]))) << classes << " at " << i;
    }
    EXPECT_EQ(got.back(), expected.back());
  }
}

// More tensors than one launch takes, of all sizes, empty ones among them.
TEST_F(SameBits, OptimizersOverManyTensors) {
  const auto run = [](TestDevice& device, bool adam) {
    Side side(device, 0);
    std::vector<SgdTensor> sgd_tensors;
    std::vector<AdamTensor> adam_tensors;
    std::vector<Buffer> all;
    for (int t = 0; t < 190; ++t) {
      const std::int64_t count = t % 9 == 0 ? 0 : t * t % 5003 + (t == 100 ? 20000 : 0);
      const auto seed = static_cast<std::uint64_t>(t);
      Floats square = random_vector(count + t % 2, seed + 3000);
      for (float& value : square) value *= value;
      const auto state = [&](const Floats& x) { return side.hold(x).slice(t % 2, count); };
      const Buffer weights = state(random_vector(count + t % 2, seed)),
                   gradients = state(random_vector(count + t % 2, seed + 1000));
      const Buffer first = state(random_vector(count + t % 2, seed + 2000)), second = state(square);
      sgd_tensors.push_back({weights, gradients, first, t % 3 != 0});
      adam_tensors.push_back({weights, gradients, first, second, t % 3 != 0});
      all.insert(all.end(), {weights, first, second});
    }
    if (adam) {
      device.adam(adam_tensors, {.learning_rate = 0.01F, .weight_decay = 0.1F, .step = 3});
      device.adam(adam_tensors, {.learning_rate = 0.01F, .weight_decay = 0.1F, .step = 4, .decoupled = true});
    } else {
      device.sgd(sgd_tensors, {.learning_rate = 0.1F, .weight_decay = 0.01F});
      device.sgd(sgd_tensors,
                 {.learning_rate = 0.1F, .momentum = 0.9F, .dampening = 0.1F, .weight_decay = 0.01F, .nesterov = true});
    }
    std::vector<Bytes> bytes;
    for (const Buffer& buffer : all) bytes.push_back(buffer.count() == 0 ? Bytes() : side.bytes(buffer));
    return bytes;
  };
  EXPECT_EQ(run(tested_, false), run(plain_, false));
  EXPECT_EQ(run(tested_, true), run(plain_, true));
}

TEST_F(SameBits, CopyOfOverlappingSlices) {
  const Floats x = random_vector(1000, 1);
  const OwnedBuffer buffer = tested_.hold(x);
  tested_.copy(buffer.view().slice(0, 900), buffer.view().slice(100, 900));
  Floats expected(x.begin(), x.begin() + 100);
  expected.insert(expected.end(), x.begin(), x.begin() + 900);
  EXPECT_EQ(tested_.values(buffer), expected);
}

// More than all slots of pinned memory hold at once.
TEST_F(SameBits, LargeVectorsArriveWhole) {
  const Floats x = random_vector(1500007, 1);
  EXPECT_EQ(tested_.values(tested_.hold(x)), x);
}

}  // namespace
}  // namespace trigram::same_bits_test
