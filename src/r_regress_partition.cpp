// Exports of adaptive partitions. Conversion only: regress/adapt_partition*.h, checks in R/adapt_partition.R.
#include <memory>

#include "r_glue.h"
#include "regress/adapt_partition.h"
#include "regress/adapt_partition_fit.h"

using namespace granary;
using namespace granary::regress;

namespace {

using Tree = Rcpp::XPtr<PartitionTree>;

PartitionOptions as_options(const Rcpp::List& from) {
  PartitionOptions out;
  const std::string rule = Rcpp::as<std::string>(from["rule"]);
  out.rule = rule == "threshold" ? PartitionRule::threshold : rule == "cart" ? PartitionRule::cart : PartitionRule::uniform;
  out.level = Rcpp::as<double>(from["level"]);
  out.empty_zero = Rcpp::as<bool>(from["empty_zero"]);
  out.lower = Rcpp::as<double>(from["lower"]);
  out.upper = Rcpp::as<double>(from["upper"]);
  return out;
}

// Keys of the rows of x (a matrix of numbers, or of digits of nested factors), how much of each is known, and how many rows are
// outside the box.
struct Keys {
  std::vector<Key> key;
  std::vector<int> known;
  std::vector<double> place;  // for degree 1
  Index width = 0;
  int outside = 0;

  const double* at(Index i) const { return width > 0 ? place.data() + i * width : nullptr; }
};
Keys as_keys(const PartitionTree& tree, SEXP x, Monitor& monitor) {
  const MasterTree& master = tree.master();
  Keys out;
  out.width = tree.planes().dimensions();
  if (master.split() == Split::nested) {
    const Eigen::Map<Eigen::MatrixXi> digits = Rcpp::as<Eigen::Map<Eigen::MatrixXi>>(x);
    out.known.resize(digits.rows());
    for (Index i = 0; i < digits.rows(); ++i) out.key.push_back(master.nested_key(digits.row(i), out.known[i]));
    return out;
  }
  const Eigen::Map<Eigen::MatrixXd> values = Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(x);
  out.key.reserve(values.rows());
  out.known.assign(values.rows(), master.levels());
  out.place.resize(values.rows() * out.width);
  for (Index i = 0; i < values.rows(); ++i) {
    if ((i & 16383) == 0) monitor.check();
    out.key.push_back(master.key(values.row(i)));
    if (out.width > 0) master.place(values.row(i), out.place.data() + i * out.width);
    out.outside += !master.inside(values.row(i));
  }
  return out;
}

}  // namespace

// Points without a tree: core_partition_grow() comes next.
// [[Rcpp::export(rng = false)]]
SEXP core_partition_points(SEXP x, const Eigen::Map<Eigen::VectorXd> y, std::string split, Rcpp::List cuts,
                           Rcpp::IntegerVector active, std::vector<int> nested_bits, int degree) {
  RMonitor monitor(R_NilValue);
  std::vector<Cuts> knots;
  for (SEXP k : cuts) knots.push_back({Rcpp::as<std::vector<double>>(k)});
  std::vector<int> split_by;
  for (int k : active) split_by.push_back(k - 1);
  MasterTree master = split == "nested" ? MasterTree(nested_bits)
                                        : MasterTree(split == "cube" ? Split::cube : Split::cyclic, std::move(knots), split_by);
  Tree tree(std::make_unique<PartitionTree>(std::move(master), degree).release(), true);
  const Keys keys = as_keys(*tree, x, monitor);
  tree->add_points(keys.key, y, keys.place);
  return tree;
}

// [[Rcpp::export(rng = false)]]
void core_partition_grow(SEXP tree, int depth, SEXP progress) {
  RMonitor monitor(progress);
  Tree(tree)->grow(depth, monitor);
}

// Returns the number of rows outside the box.
// [[Rcpp::export(rng = false)]]
int core_partition_insert(SEXP tree, SEXP x, const Eigen::Map<Eigen::VectorXd> y) {
  RMonitor monitor(R_NilValue);
  Tree to(tree);
  const Keys keys = as_keys(*to, x, monitor);
  for (Index i = 0; i < y.size(); ++i) to->insert(keys.key[i], y[i], keys.at(i));
  return keys.outside;
}

// [[Rcpp::export(rng = false)]]
void core_partition_deepen(SEXP tree, int depth, SEXP progress) {
  RMonitor monitor(progress);
  Tree(tree)->deepen(depth, monitor);
}

// Is the pointer alive (it is not after a session was saved)? The number of points, levels, depth and nodes, or nothing.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_partition_size(SEXP tree) {
  if (TYPEOF(tree) != EXTPTRSXP || R_ExternalPtrAddr(tree) == nullptr) return Rcpp::IntegerVector(0);
  const Tree from(tree);
  return Rcpp::IntegerVector::create(Rcpp::Named("points") = static_cast<int>(from->size()),
                                     Rcpp::Named("levels") = from->master().levels(), Rcpp::Named("depth") = from->depth(),
                                     Rcpp::Named("nodes") = static_cast<int>(from->nodes().size()));
}

// [[Rcpp::export(rng = false)]]
double core_partition_sigma(SEXP tree) { return neighbour_sigma(*Tree(tree)); }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_partition_predict(SEXP tree, SEXP x, Rcpp::List options, SEXP progress) {
  RMonitor monitor(progress);
  const Tree from(tree);
  const Partition partition(*from, as_options(options));
  const Keys keys = as_keys(*from, x, monitor);
  const Index n = static_cast<Index>(keys.key.size());
  VectorXd value(n);
  VectorXi node(n), empty(n);
  for (Index i = 0; i < n; ++i) {
    if ((i & 4095) == 0) monitor.check();
    const Partition::Place at = partition.locate(keys.key[i], keys.known[i], keys.at(i));
    value[i] = at.value;
    node[i] = at.node;
    empty[i] = at.empty;
  }
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("node") = node, Rcpp::Named("empty") = empty,
                            Rcpp::Named("outside") = keys.outside);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_partition_cells(SEXP tree, Rcpp::List options, SEXP progress) {
  RMonitor monitor(progress);
  const Partition partition(*Tree(tree), as_options(options));
  const Partition::Cells cells = partition.cells(monitor);
  return Rcpp::List::create(Rcpp::Named("lower") = cells.lower, Rcpp::Named("upper") = cells.upper,
                            Rcpp::Named("level") = cells.level, Rcpp::Named("n") = cells.n, Rcpp::Named("mean") = cells.mean,
                            Rcpp::Named("node") = cells.node, Rcpp::Named("centre") = cells.centre,
                            Rcpp::Named("slope") = cells.slope, Rcpp::Named("tree_size") = partition.tree_size(),
                            Rcpp::Named("sse") = partition.sse());
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_partition_summary(SEXP tree, Rcpp::List options) {
  const Tree from(tree);
  const Partition partition(*from, as_options(options));
  return Rcpp::NumericVector::create(Rcpp::Named("cells") = partition.count(), Rcpp::Named("tree_size") = partition.tree_size(),
                                     Rcpp::Named("sse") = partition.sse());
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_partition_path(SEXP tree) {
  const PartitionPath path = threshold_path(*Tree(tree));
  return Rcpp::List::create(Rcpp::Named("level") = path.level, Rcpp::Named("cells") = path.cells, Rcpp::Named("sse") = path.sse);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_partition_cv(SEXP tree, Rcpp::IntegerVector fold, int folds, const Eigen::Map<Eigen::VectorXd> grid,
                                  int depth, Rcpp::List options, int log_power, int threads, SEXP progress) {
  RMonitor monitor(progress);
  std::vector<int> of;
  for (int f : fold) of.push_back(f - 1);
  return partition_cv(*Tree(tree), of, folds, grid, depth, as_options(options), log_power, threads, monitor);
}

// Writes rows into buffers of the caller, in place: the buffers belong to one environment only.
// [[Rcpp::export(rng = false)]]
void core_store_rows(SEXP x_buffer, SEXP y_buffer, int at, SEXP x, const Eigen::Map<Eigen::VectorXd> y) {
  Eigen::Map<Eigen::VectorXd> y_to = Rcpp::as<Eigen::Map<Eigen::VectorXd>>(y_buffer);
  y_to.segment(at, y.size()) = y;
  if (TYPEOF(x) == INTSXP) {
    const Eigen::Map<Eigen::MatrixXi> from = Rcpp::as<Eigen::Map<Eigen::MatrixXi>>(x);
    Rcpp::as<Eigen::Map<Eigen::MatrixXi>>(x_buffer).middleCols(at, from.rows()) = from.transpose();
  } else {
    const Eigen::Map<Eigen::MatrixXd> from = Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(x);
    Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(x_buffer).middleCols(at, from.rows()) = from.transpose();
  }
}
