#include "kernel/ica_contrast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

struct IcaContrast::State {
  std::vector<KernelFeatures> features;
  std::vector<Index> start;    // where the features of each component begin
  MatrixXd z;                  // all centred features side by side
  MatrixXd cross;              // Z'Z with zero diagonal blocks
  std::vector<MatrixXd> axes;  // V, where variances are divided out
  std::vector<VectorXd> eigenvalues, scale;
  MatrixXd blocks;  // B; in the eigenbasis of each Z_i'Z_i where variances are divided out
};

IcaContrast::State IcaContrast::forward(const MatrixXd& y, Monitor& monitor) const {
  const Index n = y.cols();
  State s;
  s.features.resize(static_cast<std::size_t>(n));
  parallel_for(n, threads_, monitor,
               [&](Index i) { s.features[static_cast<std::size_t>(i)] = kernel_features(kernel_, y.col(i), rank_, monitor); });
  s.start.assign(1, 0);
  for (const KernelFeatures& f : s.features) s.start.push_back(s.start.back() + f.values.cols());
  s.z.resize(y.rows(), s.start.back());
  for (Index i = 0; i < n; ++i) {
    s.z.middleCols(s.start[i], s.start[i + 1] - s.start[i]) = s.features[static_cast<std::size_t>(i)].values;
  }
  s.cross.setZero(s.z.cols(), s.z.cols());
  s.cross.selfadjointView<Eigen::Lower>().rankUpdate(s.z.transpose());
  s.cross.triangularView<Eigen::StrictlyUpper>() = s.cross.transpose();
  const bool divided = options_.variances != Variances::none;
  const double ridge = static_cast<double>(y.rows()) * options_.kappa / 2;
  for (Index i = 0; i < n; ++i) {
    auto own = s.cross.block(s.start[i], s.start[i], s.start[i + 1] - s.start[i], s.start[i + 1] - s.start[i]);
    if (divided) {
      const SymmetricEigen solver{MatrixXd(own)};
      const VectorXd lambda = solver.eigenvalues().cwiseMax(1e-12 * ridge);
      s.axes.push_back(solver.eigenvectors());
      s.eigenvalues.push_back(lambda);
      s.scale.push_back(lambda.array().sqrt() / (lambda.array() + ridge));
    }
    own.setZero();
  }
  s.blocks = s.cross;
  if (divided) {
    for (Index i = 0; i < n; ++i) {
      const MatrixXd turn = s.axes[i] * s.scale[i].asDiagonal();
      const Index at = s.start[i], d = s.start[i + 1] - at;
      s.blocks.middleRows(at, d) = (turn.transpose() * s.blocks.middleRows(at, d)).eval();
      s.blocks.middleCols(at, d) = (s.blocks.middleCols(at, d) * turn).eval();
    }
  }
  return s;
}

double IcaContrast::value_of(const State& s) const {
  const double m = static_cast<double>(s.z.rows());
  if (s.features.size() == 2 && options_.measure == Measure::kcc) {
    return dependence_value(s.blocks.topRightCorner(s.start[1], s.start[2] - s.start[1]), true, m, options_);
  }
  return dependence_value(s.blocks, false, m, options_);
}

MatrixXd IcaContrast::block_gradient(const State& s) const {
  const double m = static_cast<double>(s.z.rows());
  const Index size = s.blocks.rows();
  switch (options_.measure) {
    case Measure::hsic:
      return s.blocks / (m * m);
    case Measure::kmi:
    case Measure::kgv: {
      const double nu = options_.measure == Measure::kmi ? options_.nu : 1;
      const Llt factor(MatrixXd::Identity(size, size) + s.blocks / nu);
      return factor.solve(MatrixXd::Identity(size, size)) * (-0.5 / nu);
    }
    default:
      break;
  }
  const SymmetricEigen solver(s.blocks);
  const double low = solver.eigenvalues()[0], high = solver.eigenvalues()[size - 1];
  const auto outer = [&](Index k, double by) {
    return MatrixXd(by * solver.eigenvectors().col(k) * solver.eigenvectors().col(k).transpose());
  };
  if (options_.measure == Measure::coco) return high >= -low ? outer(size - 1, 1 / m) : outer(0, -1 / m);
  return s.features.size() == 2 ? outer(size - 1, 1) : outer(0, -0.5 / (1 + low));
}

double IcaContrast::value(const MatrixXd& y, Monitor& monitor) const { return value_of(forward(y, monitor)); }

double IcaContrast::value_and_gradient(const MatrixXd& y, MatrixXd& dy, Monitor& monitor) const {
  const Index n = y.cols();
  const State s = forward(y, monitor);
  const double value = value_of(s);
  dy.setZero(y.rows(), n);
  if (!std::isfinite(value)) return value;
  MatrixXd phi = block_gradient(s);  // df/dB, soon df/d(Z'Z)
  const auto block = [&](MatrixXd& a, Index i, Index j) {
    return a.block(s.start[i], s.start[j], s.start[i + 1] - s.start[i], s.start[j + 1] - s.start[j]);
  };
  for (Index i = 0; i < n; ++i) block(phi, i, i).setZero();
  if (options_.variances != Variances::none) {
    const double ridge = static_cast<double>(y.rows()) * options_.kappa / 2;
    // t is a function of Z_i'Z_i: with E = df/dt in its eigenbasis, df/d(Z_i'Z_i) has the entries of E times the divided
    // differences of t(a) = sqrt(a) / (a + ridge), which are (ridge - sqrt(ab)) / ((sqrt a + sqrt b)(a + ridge)(b + ridge)).
    const MatrixXd product = phi * s.blocks;
    std::vector<MatrixXd> own;
    for (Index i = 0; i < n; ++i) {
      const Index at = s.start[i], d = s.start[i + 1] - at;
      const VectorXd& lambda = s.eigenvalues[i];
      // Psi_ij t_j (V_j'C_ji V_i) summed over j is (Psi B)_ii divided by t_i on the right.
      MatrixXd e = 2 * product.block(at, at, d, d) * s.scale[i].cwiseInverse().asDiagonal();
      e = (0.5 * (e + e.transpose())).eval();
      for (Index a = 0; a < d; ++a) {
        for (Index b = 0; b < d; ++b) {
          const double ra = std::sqrt(lambda[a]), rb = std::sqrt(lambda[b]);
          e(a, b) *= (ridge - ra * rb) / ((ra + rb) * (lambda[a] + ridge) * (lambda[b] + ridge));
        }
      }
      own.push_back(s.axes[i] * e * s.axes[i].transpose());
    }
    for (Index i = 0; i < n; ++i) {
      const MatrixXd turn = s.axes[i] * s.scale[i].asDiagonal();
      const Index at = s.start[i], d = s.start[i + 1] - at;
      phi.middleRows(at, d) = (turn * phi.middleRows(at, d)).eval();
      phi.middleCols(at, d) = (phi.middleCols(at, d) * turn.transpose()).eval();
    }
    for (Index i = 0; i < n; ++i) block(phi, i, i) = own[static_cast<std::size_t>(i)];
  }
  const MatrixXd dz = 2 * (s.z * phi);
  parallel_for(n, threads_, monitor, [&](Index i) {
    const KernelFeatures& f = s.features[static_cast<std::size_t>(i)];
    const Index at = s.start[i], d = s.start[i + 1] - at;
    if (d == 0) return;
    MatrixXd cross = dz.middleCols(at, d);
    MatrixXd inner = -0.5 * (f.values.transpose() * cross);
    const auto root = f.root.triangularView<Eigen::Lower>();
    root.solveInPlace<Eigen::OnTheRight>(cross);
    root.solveInPlace<Eigen::OnTheRight>(inner);
    inner = root.transpose().solve(inner).eval();
    inner = (0.5 * (inner + inner.transpose())).eval();
    MatrixXd pivots(d, 1), d_rows = MatrixXd::Zero(y.rows(), 1), d_pivots = MatrixXd::Zero(d, 1);
    for (Index k = 0; k < d; ++k) pivots(k, 0) = y(f.pivots[static_cast<std::size_t>(k)], i);
    VectorXd unused = VectorXd::Zero(kernel_.n_parameters());
    kernel_.add_cross_gradient(y.col(i), pivots, cross, unused, &d_rows, &d_pivots);
    kernel_.add_gradient(pivots, inner, unused, &d_pivots);
    dy.col(i) = d_rows.col(0);
    for (Index k = 0; k < d; ++k) dy(f.pivots[static_cast<std::size_t>(k)], i) += d_pivots(k, 0);
  });
  return value;
}

double IcaContrast::nu_at(const MatrixXd& y, NuRule rule, Monitor& monitor) const {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (Index i = 0; i < y.cols(); ++i) {
    const KernelFeatures f = kernel_features(kernel_, y.col(i), rank_, monitor);
    if (rule == NuRule::safe) {
      largest = std::max(largest, largest_eigenvalue(f.values.transpose() * f.values));
    } else {
      smallest = std::min(smallest, smallest_row_sum(f, kernel_, y.col(i), monitor));
    }
  }
  return rule == NuRule::safe ? 1.01 * largest : smallest;
}

}  // namespace granary::kernel
