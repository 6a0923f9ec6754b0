// Partitions of a grown tree, and what they predict.
//
//   threshold   tree = {I : peak_I >= level}, level = m tau^2                                       (section 2.3)
//   cart        tree that minimises  sum of squares / m + lambda #cells  over all prunings, by dynamic programming from the
//   leaves up uniform     all cells of one level                                                             (Theorem 2)
//
// Binev, Cohen, Dahmen, DeVore and Temlyakov (JMLR 2005); dyadic CART: Donoho (Annals of Statistics 1997).
#pragma once

#include <limits>

#include "regress/adapt_partition.h"

namespace granary::regress {

enum class PartitionRule { threshold, cart, uniform };

struct PartitionOptions {
  PartitionRule rule = PartitionRule::threshold;
  double level = 0;         // threshold: m tau^2; cart: m lambda; uniform: the level of the cells
  bool empty_zero = false;  // cells without points: 0, as in the paper, instead of the mean of the parent
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();  // truncation
};

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
PartitionPath threshold_path(const PartitionTree& tree);

// Standard deviation of the noise from differences at neighbours in the order of the keys: by their median, or, where that is
// zero, their mean square.
double neighbour_sigma(const PartitionTree& tree);

// Squared errors of rows left out, one row per fold (numbered from 0) and one column per value of `grid`: kappa^2 for threshold
// and cart (level = kappa^2 log m, or log^2 m), the level for uniform.
MatrixXd partition_cv(const PartitionTree& tree, const std::vector<int>& fold, int folds, ConstVectorRef grid, int depth,
                      const PartitionOptions& options, int log_power, int threads, Monitor& monitor);

}  // namespace granary::regress
