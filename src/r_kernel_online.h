// What the glue of the online classifiers shares: data by rows, labels, and the record of a run.
#pragma once

#include <vector>

#include "kernel/online.h"
#include "kernel/sparse_rows.h"
#include "r_glue.h"

namespace granary {

// A dense matrix or a dgCMatrix by rows.
inline kernel::SparseRows as_rows(SEXP x) {
  if (Rf_isS4(x)) {
    const auto m = Rcpp::as<Eigen::Map<Eigen::SparseMatrix<double>>>(x);
    return kernel::SparseRows(
        ConstSparseMap(m.rows(), m.cols(), m.nonZeros(), m.outerIndexPtr(), m.innerIndexPtr(), m.valuePtr()));
  }
  return kernel::SparseRows(Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(x));
}

// One less than R's.
inline std::vector<int> zero_based(const Rcpp::IntegerVector& x) {
  std::vector<int> out(x.begin(), x.end());
  for (int& value : out) --value;
  return out;
}

inline Rcpp::List as_list(const kernel::OnlineRun& run, const Rcpp::List& state) {
  return Rcpp::List::create(Rcpp::Named("state") = state,
                            Rcpp::Named("wrong") = Rcpp::LogicalVector(run.wrong.begin(), run.wrong.end()),
                            Rcpp::Named("changed") = Rcpp::LogicalVector(run.changed.begin(), run.changed.end()),
                            Rcpp::Named("support") = Rcpp::IntegerVector(run.support.begin(), run.support.end()));
}

// An element of a list that may not be there yet: a state before its first example is an empty list.
template <class T>
T element_or(const Rcpp::List& list, const char* name, const T& otherwise) {
  return list.containsElementNamed(name) ? Rcpp::as<T>(list[name]) : otherwise;
}

}  // namespace granary
