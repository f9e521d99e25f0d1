// Torus of rows × columns: a vertex and its four neighbours share alike, weights 1/5; where a side is one or two long,
// neighbours fall together and add up. Eigenvalues (1 + 2cos(2πp/rows) + 2cos(2πq/columns))/5.
#include <algorithm>
#include <utility>

#include "core/topologies/symmetric.hpp"

namespace trigram {

namespace {

/// The number of rows of the most square rows × columns = size, rows ≤ columns.
int most_square_rows(int size) {
  int rows = 1;
  for (int candidate = 1; candidate * candidate <= size; ++candidate) {
    if (size % candidate == 0) rows = candidate;
  }
  return rows;
}

class Torus final : public Symmetric {
 public:
  explicit Torus(Params& params) : wanted_rows_(params.get("rows", 0, "rows; 0: the most square torus")) {
    require(wanted_rows_ >= 0, "topology 'torus': rows is " + std::to_string(wanted_rows_) + "; it cannot be negative");
  }

  void resize(const Vertices& vertices) override {
    Symmetric::resize(vertices);
    const int size = vertices.count;
    rows_ = wanted_rows_ == 0 ? most_square_rows(size) : wanted_rows_;
    require(size % rows_ == 0, "topology 'torus' with " + std::to_string(rows_) + " rows cannot have " +
                                   std::to_string(size) + " vertices; rows must divide the size");
    columns_ = size / rows_;
  }

  std::int64_t period() const override { return 1; }

  Row row(int rank, std::int64_t) const override {
    constexpr std::pair<int, int> places[] = {{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}};
    Row weights;
    for (const auto& [down, right] : places) weights[neighbour(rank, down, right)] += 0.2;
    return weights;
  }

 private:
  int neighbour(int rank, int down, int right) const {
    const int row = (rank / columns_ + down + rows_) % rows_;
    const int column = (rank % columns_ + right + columns_) % columns_;
    return row * columns_ + column;
  }

  int wanted_rows_;
  int rows_ = 1;
  int columns_ = 1;
};

const Topologies::Registration registration("torus", {"a grid that closes on itself, four neighbours, weights 1/5"},
                                            [](Params& params) { return std::make_unique<Torus>(params); });

}  // namespace

}  // namespace trigram
