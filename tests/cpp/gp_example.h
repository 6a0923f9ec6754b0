// The worked example of the kriging tests: X = (0, .2, .45, .7, 1), y = sin(6 X) + X, squared exponential with lengthscale 0.3.
#pragma once

#include <cmath>
#include <string>

#include "process/gp.h"

namespace granary::process {

inline KernelSpec radial(const std::string& type, VectorXd scales, double shape = 0, bool learn_variance = false) {
  KernelSpec spec;
  spec.type = type;
  spec.scales = std::move(scales);
  spec.shape = shape;
  spec.learn_variance = learn_variance;
  return spec;
}

struct Example {
  MatrixXd x{5, 1}, f = MatrixXd::Ones(5, 1);
  VectorXd y{5};
  Example() {
    x << 0, 0.2, 0.45, 0.7, 1;
    y = (6 * x.array()).sin() + x.array();
  }
  GaussianProcess fit(double nugget = 0) const {
    GpModel model{Kernel(radial("se", VectorXd::Constant(1, 0.3)), 1)};
    model.nugget = nugget;
    return GaussianProcess(model, x, y, f);
  }
};

}  // namespace granary::process
