// The master tree of an adaptive partition: a rule that splits every cell into children without looking at the response.
//
// A point is coded as a key of at most 62 bits whose leading digits name its cell at every level, so that the points of a cell
// share a prefix and lie side by side once keys are sorted (Morton, or Z-order, for cubes). Level j consumes bits[j] bits:
//
//   cube     2^d children by halving all coordinates: d bits
//   cyclic   2 children by halving coordinate j mod d: 1 bit
//   nested   the categories of factor j + 1 within one of factor j: as many bits as the largest number of children needs
//
// Coordinates are first mapped to [0, 1] by a piecewise linear increasing function: of two knots (halving in the middle of the
// box) or of many (halving at quantiles of x). Cells are half-open; the last of each coordinate is closed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::regress {

using Key = std::uint64_t;
using ConstIntMatrixRef = Eigen::Ref<const Eigen::MatrixXi>;

enum class Split { cube, cyclic, nested };
inline Names<Split> names(Split) { return {{Split::cube, "cube"}, {Split::cyclic, "cyclic"}, {Split::nested, "nested"}}; }

struct Cuts {  // of one coordinate: x = knots[k] goes to k / (size - 1)
  std::vector<double> knots;

  double to_unit(double x) const;  // clamped to [0, 1]
  double from_unit(double u) const;
  bool contains(double x) const { return x >= knots.front() && x <= knots.back(); }
};

class MasterTree {
 public:
  // Coordinates in `active` are split, in this order; the others never are.
  MasterTree(Split split, std::vector<Cuts> cuts, std::vector<int> active);
  explicit MasterTree(std::vector<int> nested_bits);

  Split split() const { return split_; }
  int levels() const { return static_cast<int>(bits_.size()); }
  int children(int level) const { return 1 << bits_[level]; }  // for nested: an upper bound
  int digit(Key key, int level) const { return static_cast<int>((key >> shift_[level]) & ((Key(1) << bits_[level]) - 1)); }
  Key prefix(Key key, int level) const { return level == 0 ? 0 : key >> shift_[level - 1]; }  // the cell at this level

  Key key(Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>> x) const;
  bool inside(Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>> x) const;
  // For planes on cells: where x lies between the ends of each active coordinate, clamped to [0, 1].
  Index dimensions() const { return static_cast<Index>(active_.size()); }
  double end(Index k) const { return cuts_[active_[k]].knots.front(); }
  double width(Index k) const { return cuts_[active_[k]].knots.back() - end(k); }
  int coordinate(Index k) const { return active_[k]; }
  void place(Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>> x, double* out) const;
  // Digits of nested factors; a negative one ends the key there: `known` gets the number of levels that are known.
  Key nested_key(const Eigen::Ref<const Eigen::RowVectorXi, 0, Eigen::InnerStride<>>& digits, int& known) const;

  // The box of the cell with this prefix.
  void bounds(Key prefix, int level, Eigen::RowVectorXd& lower, Eigen::RowVectorXd& upper) const;
  Index coordinates() const { return static_cast<Index>(cuts_.size()); }

 private:
  void set_levels(const std::vector<int>& bits);
  int precision(std::size_t k) const;  // bits of active coordinate k over all levels

  Split split_;
  std::vector<Cuts> cuts_;
  std::vector<int> active_, bits_, shift_;  // shift_[j]: bits to the right of digit j
};

}  // namespace granary::regress
