// Exports of adaptive partitions. The tree is held by R between calls, and remade from the rows after a session was saved.
#include "r_door.h"
#include "regress/adapt_partition_fit.h"

using namespace granary;
using namespace granary::regress;

namespace {

PartitionRows rows_of(SEXP x) { return read<PartitionRows>(x, "x"); }

}  // namespace

// Points without a tree: core_partition_grow() comes next.
// [[Rcpp::export(rng = false)]]
SEXP core_partition_points(SEXP x, SEXP y, SEXP shape) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return hold(partition_points(rows_of(x), vector(y, "y"), read<PartitionShape>(shape), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_gains(SEXP x, SEXP y, SEXP shape) {
  return crossing([&] { return write(column_gains(rows_of(x), vector(y, "y"), read<PartitionShape>(shape))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_grow(SEXP tree, SEXP depth, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    held<PartitionTree>(tree).grow(count(depth), monitor);
    return R_NilValue;
  });
}

// Returns the number of rows outside the box.
// [[Rcpp::export(rng = false)]]
SEXP core_partition_insert(SEXP tree, SEXP x, SEXP y) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(partition_insert(held<PartitionTree>(tree), rows_of(x), vector(y, "y"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_deepen(SEXP tree, SEXP depth, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    held<PartitionTree>(tree).deepen(count(depth), monitor);
    return R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_alive(SEXP tree) {
  return crossing([&] { return write(is_alive(tree)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_levels(SEXP tree) {
  return crossing([&] { return write(held<PartitionTree>(tree).master().levels()); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_sigma(SEXP tree) {
  return crossing([&] { return write(neighbour_sigma(held<PartitionTree>(tree))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_predict(SEXP tree, SEXP x, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(partition_predict(held<PartitionTree>(tree), rows_of(x), read<PartitionOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_cells(SEXP tree, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(Partition(held<PartitionTree>(tree), read<PartitionOptions>(options)).cells(monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_summary(SEXP tree, SEXP options) {
  return crossing([&] {
    const Partition partition(held<PartitionTree>(tree), read<PartitionOptions>(options));
    return write_list("cells", partition.count(), "tree_size", partition.tree_size(), "sse", partition.sse());
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_path(SEXP tree) {
  return crossing([&] { return write(threshold_path(held<PartitionTree>(tree))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_cv(SEXP tree, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const PartitionCvOptions o = read<PartitionCvOptions>(options);
    return write(partition_cv(held<PartitionTree>(tree), o.fold, o.folds, o.grid, o.depth, o.partition, o.log_power, o.threads, monitor));
  });
}

// Writes rows into buffers of the caller, in place: the buffers belong to one environment only.
// [[Rcpp::export(rng = false)]]
SEXP core_store_rows(SEXP x_buffer, SEXP y_buffer, SEXP at, SEXP x, SEXP y) {
  return crossing([&] {
    const auto [rows, columns] = door::dimensions(x, "x");
    const Index from = count(at);
    require(TYPEOF(x) == TYPEOF(x_buffer) && Rf_xlength(x_buffer) >= (from + rows) * columns && Rf_xlength(y_buffer) >= from + rows,
            "the buffers of the fit are damaged.");
    store_rows(REAL(y_buffer), vector(y, "y").data(), rows, 1, from);
    if (TYPEOF(x) == INTSXP) {
      store_rows(INTEGER(x_buffer), INTEGER(x), rows, columns, from);
    } else {
      store_rows(REAL(x_buffer), matrix(x).data(), rows, columns, from);
    }
    return R_NilValue;
  });
}
