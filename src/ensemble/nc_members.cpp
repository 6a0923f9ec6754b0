#include "ensemble/nc_members.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::ensemble {
namespace {

using View = Eigen::Map<const MatrixXd>;
using VectorViewXd = Eigen::Map<const VectorXd>;

// The parts of a vector of weights.
struct Parts {
  const double* first;   // U or centres
  const double* second;  // a or log widths
  const double* out;     // v
  double constant;       // b
};

Parts parts_of(const MemberShape& s, const double* w) {
  if (s.kind == MemberKind::features) return {nullptr, nullptr, w, w[s.units]};
  const Index matrix = s.inputs * s.units;
  return {w, w + matrix, w + matrix + s.units, w[matrix + 2 * s.units]};
}

// Squared distances of the columns of x to centres, centres x rows.
MatrixXd squared_distances(const MatrixXd& x, const View& centers) {
  MatrixXd out = -2 * (centers.transpose() * x);
  out.colwise() += centers.colwise().squaredNorm().transpose();
  out.rowwise() += x.colwise().squaredNorm();
  return out.cwiseMax(0.0);
}

double median_distance(const MatrixXd& x, Rng& rng) {
  std::vector<double> found;
  const auto n = static_cast<std::uint64_t>(x.cols());
  for (int k = 0; k < 200; ++k) {
    const auto i = static_cast<Index>(rng.below(n)), j = static_cast<Index>(rng.below(n));
    const double d = (x.col(i) - x.col(j)).norm();
    if (d > 0) found.push_back(d);
  }
  if (found.empty()) return 1;
  std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2), found.end());
  return found[found.size() / 2];
}

}  // namespace

Index MemberShape::weights() const { return kind == MemberKind::features ? units + 1 : units * (inputs + 2) + 1; }

Index MemberShape::fixed() const {
  if (kind != MemberKind::features) return 0;
  return basis == MemberBasis::columns ? units : units * (inputs + 1);
}

VectorXd MemberShape::decayed() const {
  VectorXd out = VectorXd::Ones(weights());
  out[weights() - 1] = 0;
  if (kind == MemberKind::mlp) out.segment(inputs * units, units).setZero();
  if (kind == MemberKind::rbf) out.head(inputs * units + units).setZero();
  return out;
}

void start_member(const MemberShape& s, const MatrixXd& x, double width, Rng& rng, VectorRef weights, VectorRef fixed) {
  for (Index i = 0; i < weights.size(); ++i) weights[i] = rng.uniform(-0.5, 0.5);
  const bool bumps = s.kind == MemberKind::rbf || (s.kind == MemberKind::features && s.basis != MemberBasis::columns);
  const double typical = bumps ? width * median_distance(x, rng) : 1;
  const auto row = [&] { return static_cast<Index>(rng.below(static_cast<std::uint64_t>(x.cols()))); };
  if (s.kind == MemberKind::rbf) {
    for (Index h = 0; h < s.units; ++h) {
      weights.segment(h * s.inputs, s.inputs) = x.col(row());
      weights[s.inputs * s.units + h] = std::log(typical * rng.uniform(0.5, 1.5));
    }
  }
  if (s.kind != MemberKind::features) return;
  switch (s.basis) {
    case MemberBasis::fourier: {
      const double scale = typical * rng.uniform(0.5, 1.5);  // members look at different scales
      for (Index i = 0; i < s.inputs * s.units; ++i) fixed[i] = rng.normal() / scale;
      for (Index h = 0; h < s.units; ++h) fixed[s.inputs * s.units + h] = rng.uniform(0, 2 * M_PI);
      break;
    }
    case MemberBasis::rbf:
      for (Index h = 0; h < s.units; ++h) {
        fixed.segment(h * s.inputs, s.inputs) = x.col(row());
        fixed[s.inputs * s.units + h] = typical * rng.uniform(0.5, 1.5);
      }
      break;
    case MemberBasis::columns: {
      const std::vector<int> drawn = rng.sample_without_replacement(static_cast<int>(s.inputs), static_cast<int>(s.units));
      for (Index h = 0; h < s.units; ++h) fixed[h] = drawn[static_cast<std::size_t>(h)];
    }
  }
}

MatrixXd member_features(const MemberShape& s, const MatrixXd& x, ConstVectorRef fixed) {
  MatrixXd out(s.units, x.cols());
  if (s.basis == MemberBasis::columns) {
    for (Index h = 0; h < s.units; ++h) out.row(h) = x.row(static_cast<Index>(fixed[h]));
    return out;
  }
  const VectorViewXd last(fixed.data() + s.inputs * s.units, s.units);
  if (s.basis == MemberBasis::fourier) {
    const View frequency(fixed.data(), s.inputs, s.units);
    out = frequency.transpose() * x;
    out.colwise() += last;
    return std::sqrt(2.0 / static_cast<double>(s.units)) * out.array().cos();
  }
  out = squared_distances(x, View(fixed.data(), s.inputs, s.units));
  out.array().colwise() /= -2 * last.array().square();
  return out.array().exp();
}

void member_values(const MemberShape& s, const MatrixXd& x, ConstVectorRef weights, ConstVectorRef fixed, MemberPass& pass) {
  const Parts w = parts_of(s, weights.data());
  if (s.kind == MemberKind::features) {
    if (pass.hidden.rows() != s.units || pass.hidden.cols() != x.cols()) pass.hidden = member_features(s, x, fixed);
  } else if (s.kind == MemberKind::mlp) {
    pass.hidden = View(w.first, s.units, s.inputs) * x;
    pass.hidden.colwise() += VectorViewXd(w.second, s.units);
    pass.hidden = (1 + (-pass.hidden.array()).exp()).inverse();
  } else {
    pass.distance = squared_distances(x, View(w.first, s.inputs, s.units));
    const VectorXd rate = -0.5 * (-2 * VectorViewXd(w.second, s.units).array()).exp();
    pass.hidden = (pass.distance.array().colwise() * rate.array()).exp();
  }
  pass.values = pass.hidden.transpose() * VectorViewXd(w.out, s.units);
  pass.values.array() += w.constant;
}

void member_gradient(const MemberShape& s, const MatrixXd& x, ConstVectorRef weights, const MemberPass& pass, const VectorXd& g,
                     VectorRef gradient) {
  const Parts w = parts_of(s, weights.data());
  const Index matrix = s.inputs * s.units;
  const Index out = s.kind == MemberKind::features ? 0 : matrix + s.units;
  gradient.segment(out, s.units) = pass.hidden * g;
  gradient[out + s.units] = g.sum();
  if (s.kind == MemberKind::features) return;
  // by unit and row: g_n v_h times the derivative of the unit in its argument (mlp), or its value (rbf)
  MatrixXd back = VectorViewXd(w.out, s.units) * g.transpose();
  if (s.kind == MemberKind::mlp) {
    back.array() *= pass.hidden.array() * (1 - pass.hidden.array());
    Eigen::Map<MatrixXd>(gradient.data(), s.units, s.inputs) = back * x.transpose();
    gradient.segment(matrix, s.units) = back.rowwise().sum();
    return;
  }
  back.array() *= pass.hidden.array();
  const VectorXd inverse = (-2 * VectorViewXd(w.second, s.units).array()).exp();  // 1 / s^2
  Eigen::Map<MatrixXd> centers(gradient.data(), s.inputs, s.units);
  centers = x * back.transpose();
  const VectorXd sums = back.rowwise().sum();
  for (Index h = 0; h < s.units; ++h)
    centers.col(h) = inverse[h] * (centers.col(h) - sums[h] * VectorViewXd(w.first + h * s.inputs, s.inputs));
  gradient.segment(matrix, s.units) = (back.array() * pass.distance.array()).rowwise().sum() * inverse.array();
}

double RowMember::value(const double* x, const double* features, const double* weights) {
  const Parts w = parts_of(shape_, weights);
  const Index units = shape_.units, p = shape_.inputs;
  if (shape_.kind == MemberKind::features) {
    hidden_ = VectorViewXd(features, units);
  } else if (shape_.kind == MemberKind::mlp) {
    hidden_ = VectorViewXd(w.second, units);
    for (Index j = 0; j < p; ++j) hidden_ += x[j] * VectorViewXd(w.first + j * units, units);
    hidden_ = (1 + (-hidden_.array()).exp()).inverse();
  } else {
    const VectorViewXd row(x, p);
    for (Index h = 0; h < units; ++h) distance_[h] = (row - VectorViewXd(w.first + h * p, p)).squaredNorm();
    hidden_ = (-0.5 * distance_.array() * (-2 * VectorViewXd(w.second, units).array()).exp()).exp();
  }
  return w.constant + hidden_.dot(VectorViewXd(w.out, units));
}

void RowMember::step(const double* x, double amount, double* weights) {
  const Index units = shape_.units, p = shape_.inputs, matrix = p * units;
  const Index out = shape_.kind == MemberKind::features ? 0 : matrix + units;
  Eigen::Map<VectorXd> v(weights + out, units);
  if (shape_.kind == MemberKind::mlp) {
    back_ = amount * v.array() * hidden_.array() * (1 - hidden_.array());
    for (Index j = 0; j < p; ++j) Eigen::Map<VectorXd>(weights + j * units, units) -= x[j] * back_;
    Eigen::Map<VectorXd>(weights + matrix, units) -= back_;
  } else if (shape_.kind == MemberKind::rbf) {
    Eigen::Map<VectorXd> logs(weights + matrix, units);
    back_ = amount * v.array() * hidden_.array() * (-2 * logs.array()).exp();
    for (Index h = 0; h < units; ++h) {
      Eigen::Map<VectorXd> center(weights + h * p, p);
      center -= back_[h] * (VectorViewXd(x, p) - center);
    }
    logs -= (back_.array() * distance_.array()).matrix();
  }
  v -= amount * hidden_;
  weights[out + units] -= amount;
}

}  // namespace granary::ensemble
