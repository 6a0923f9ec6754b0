// Exports of the kernel language.
#include "r_kernel.h"

using namespace granary;

// `z` without rows: of x with itself.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_kernel_matrix(const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> x,
                                   const Eigen::Map<Eigen::MatrixXd> z) {
  const Kernel k(as_kernel_spec(kernel), x.cols());
  return z.rows() == 0 ? k.matrix(x) : k.cross(x, z);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_kernel_parameters(const Rcpp::List& kernel, int dimension) {
  const Kernel k(as_kernel_spec(kernel), dimension);
  return Rcpp::List::create(Rcpp::Named("log_parameters") = k.parameters(), Rcpp::Named("names") = k.parameter_names(),
                            Rcpp::Named("stationary") = k.stationary(),
                            Rcpp::Named("differentiable") = k.differentiable_in_inputs());
}
