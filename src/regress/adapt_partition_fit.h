// Partitions of a grown tree, and what they predict.
//
//   threshold   tree = {I : peak_I >= level}, level = m tau^2                                       (section 2.3)
//   cart        tree that minimises  sum of squares / m + lambda #cells  over all prunings, by dynamic programming from the
//   leaves up uniform     all cells of one level                                                             (Theorem 2)
//
// Binev, Cohen, Dahmen, DeVore and Temlyakov (JMLR 2005); dyadic CART: Donoho (Annals of Statistics 1997).
#pragma once

#include <limits>
#include <memory>

#include "regress/adapt_partition.h"

namespace granary::regress {

enum class PartitionRule { threshold, cart, uniform };
inline Names<PartitionRule> names(PartitionRule) {
  return {{PartitionRule::threshold, "threshold"}, {PartitionRule::cart, "cart"}, {PartitionRule::uniform, "uniform"}};
}

struct PartitionOptions {
  PartitionRule rule = PartitionRule::threshold;
  double level = 0;         // threshold: m tau^2; cart: m lambda; uniform: the level of the cells
  bool empty_zero = false;  // cells without points: 0, as in the paper, instead of the mean of the parent
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();  // truncation
};
template <class V>
void fields(V& v, PartitionOptions& t) {
  v("rule", t.rule);
  v("level", t.level);
  v("empty_zero", t.empty_zero);
  v("lower", t.lower);
  v("upper", t.upper);
}

// Rows as they come: numbers, or the digits of nested factors.
struct PartitionRows {
  MatrixView values{nullptr, 0, 0};
  Eigen::MatrixXi digits;
};
template <class V>
void fields(V& v, PartitionRows& t) {
  v("values", t.values);
  v("digits", t.digits);
}

// How the master tree is cut, and the degree of what its cells hold.
struct PartitionShape {
  Split split = Split::cyclic;
  std::vector<std::vector<double>> knots;
  std::vector<int> active;  // columns that are split
  std::vector<int> bits;    // nested factors
  int degree = 0;
};
template <class V>
void fields(V& v, PartitionShape& t) {
  v("split", t.split);
  v("knots", t.knots);
  v("active", positions(t.active));
  v("bits", t.bits);
  v("degree", t.degree);
}

// Keys of rows, how much of each is known, and how many rows are outside the box.
struct RowKeys {
  std::vector<Key> key;
  std::vector<int> known;
  std::vector<double> place;  // for degree 1
  Index width = 0;
  int outside = 0;
  const double* at(Index i) const { return width > 0 ? place.data() + i * width : nullptr; }
};
RowKeys row_keys(const PartitionTree& tree, const PartitionRows& rows, Monitor& monitor);

// Points without cells: grow() comes next.
std::unique_ptr<PartitionTree> partition_points(const PartitionRows& rows, ConstVectorRef y, const PartitionShape& shape, Monitor& monitor);
// How much the means of y over the eighths of each active column differ, in standard deviations of what noise would give:
// (between sum of squares / noise variance - 7) / sqrt(14); the noise variance is what is left within the eighths.
VectorXd column_gains(const PartitionRows& rows, ConstVectorRef y, const PartitionShape& shape);
int partition_insert(PartitionTree& tree, const PartitionRows& rows, ConstVectorRef y, Monitor& monitor);  // rows outside the box

struct PartitionPrediction {
  VectorXd value;
  VectorXi node, empty;
  int outside = 0;
};
template <class V>
void fields(V& v, PartitionPrediction& t) {
  v("value", t.value);
  v("node", t.node);
  v("empty", t.empty);
  v("outside", t.outside);
}
PartitionPrediction partition_predict(const PartitionTree& tree, const PartitionRows& rows, const PartitionOptions& options, Monitor& monitor);

// A tree with one of its partitions.
class Partition {
 public:
  Partition(const PartitionTree& tree, const PartitionOptions& options);

  bool divided(int node) const;  // is the cell in the tree?
  // `known`: levels of the key that are known. The cell is `cell` (a node), or an empty child of it.
  struct Place {
    int node = 0;
    bool empty = false;
    double value = 0;
  };
  Place locate(Key key, int known, const double* place = nullptr) const;  // the place is for degree 1
  double truncated(double value) const;

  struct Cells {
    MatrixXd lower, upper;  // cells x coordinates; no columns for nested factors
    VectorXi level, n, node;
    VectorXd mean;
    MatrixXd centre, slope;  // of the planes, cells x coordinates; no rows with degree 0
    std::vector<Key> prefix;
    double tree_size = 0, sse = 0;
  };
  Cells cells(Monitor& monitor) const;  // all of them, with the empty ones
  double count() const;                 // of cells
  double tree_size() const;
  double sse() const;

 private:
  std::vector<int> tree() const;  // cells that are split, as far as the data reach
  bool goes_on(int level) const;  // uniform: cells of this level are split, even where no point is

  const PartitionTree& tree_;
  PartitionOptions options_;
  std::vector<char> keep_;  // cart only
};

template <class V>
void fields(V& v, Partition::Cells& t) {
  v("lower", t.lower);
  v("upper", t.upper);
  v("level", t.level);
  v("n", t.n);
  v("mean", t.mean);
  v("node", t.node);
  v("centre", t.centre);
  v("slope", t.slope);
  v("tree_size", t.tree_size);
  v("sse", t.sse);
}

// The cells of I in the cart tree cost at most those of any other pruning; `cost` in units of sums of squares.
struct CartResult {
  std::vector<char> divided;
  double cost = 0;
};
CartResult dyadic_cart(const PartitionTree& tree, double m_lambda);

// Every distinct partition as the threshold falls: level = m tau^2 at which it appears, cells, sum of squares.
struct PartitionPath {
  VectorXd level, cells, sse;
};
template <class V>
void fields(V& v, PartitionPath& t) {
  v("level", t.level);
  v("cells", t.cells);
  v("sse", t.sse);
}
PartitionPath threshold_path(const PartitionTree& tree);

// Standard deviation of the noise from differences at neighbours in the order of the keys: by their median, or, where that is
// zero, their mean square.
double neighbour_sigma(const PartitionTree& tree);

// Squared errors of rows left out, one row per fold (numbered from 0) and one column per value of `grid`: kappa^2 for threshold
// and cart (level = kappa^2 log m, or log^2 m), the level for uniform.
struct PartitionCvOptions {
  PartitionOptions partition;
  std::vector<int> fold;  // of each row
  int folds = 10;
  VectorXd grid;
  int depth = 0;
  int log_power = 1;
  int threads = 1;
};
template <class V>
void fields(V& v, PartitionCvOptions& t) {
  v("partition", t.partition);
  v("fold", positions(t.fold));
  v("folds", t.folds);
  v("grid", t.grid);
  v("depth", t.depth);
  v("log_power", t.log_power);
  v("threads", t.threads);
}
MatrixXd partition_cv(const PartitionTree& tree, const std::vector<int>& fold, int folds, ConstVectorRef grid, int depth,
                      const PartitionOptions& options, int log_power, int threads, Monitor& monitor);

// Rows of `from` (stored by columns) into columns of a buffer of the caller, from column `at` on: a stream of rows is put behind those there are.
template <class T>
void store_rows(T* buffer, const T* from, Index rows, Index columns, Index at) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) buffer[(at + i) * columns + j] = from[j * rows + i];
}

}  // namespace granary::regress
