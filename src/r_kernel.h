// A kernel as R holds it (a list, see R/kernel.R) as a KernelSpec.
#pragma once

#include <RcppEigen.h>

#include "core/kernel.h"

namespace granary {

inline KernelSpec as_kernel_spec(const Rcpp::List& kernel) {
  KernelSpec spec;
  spec.type = Rcpp::as<std::string>(kernel["type"]);
  if (kernel.containsElementNamed("children")) {
    const Rcpp::List children = kernel["children"];
    for (R_xlen_t i = 0; i < children.size(); ++i) spec.children.push_back(as_kernel_spec(children[i]));
    return spec;
  }
  spec.variance = Rcpp::as<double>(kernel["variance"]);
  spec.scales = Rcpp::as<VectorXd>(kernel["scales"]);
  spec.shape = Rcpp::as<double>(kernel["shape"]);
  spec.offset = Rcpp::as<double>(kernel["offset"]);
  for (int column : Rcpp::as<std::vector<int>>(kernel["columns"])) spec.columns.push_back(column - 1);
  const Rcpp::LogicalVector learn = kernel["learn"];  // variance, scales, shape
  spec.learn_variance = learn[0];
  spec.learn_scales = learn[1];
  spec.learn_shape = learn[2];
  if (spec.type == "user") {
    spec.user_parameters = Rcpp::as<VectorXd>(kernel["parameters"]);
    const Rcpp::Function function = kernel["call"];
    spec.function = [function](const MatrixXd& x, const MatrixXd& z, const VectorXd& parameters) {
      return Rcpp::as<MatrixXd>(function(x, z, parameters));
    };
  }
  return spec;
}

}  // namespace granary
