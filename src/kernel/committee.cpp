#include "kernel/committee.h"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/math/marchenko_pastur.h"

namespace granary::kernel {

namespace {

constexpr double two_over_pi = boost::math::constants::two_div_pi<double>();
const double root_two_over_pi = std::sqrt(two_over_pi);

using ConstBlock = Eigen::Map<const MatrixXd>;
using Block = Eigen::Map<MatrixXd>;

double sign_of(Index variable, Index students) { return variable < students ? 1 : -1; }

VectorXd signs(Index variables, Index students) {
  VectorXd s = VectorXd::Constant(variables, -1);
  s.head(students).setOnes();
  return s;
}

// <(sum_z sgn g(z) - xi_0)^2> for covariance c; the last variable is xi_0.
double mean_square(const MatrixXd& c, Index students, bool linear) {
  const Index units = c.rows() - 1;
  const VectorXd sign = signs(c.rows(), students);
  if (linear) return std::max(0.0, sign.dot(c * sign));
  const VectorXd scale = (1 + c.diagonal().array()).sqrt().inverse();
  double sum = c(units, units);
  for (Index i = 0; i < units; ++i) {
    const double own = c(i, i) * scale[i] * scale[i];
    sum += two_over_pi * std::asin(std::max(-1.0, std::min(1.0, own))) - 2 * sign[i] * root_two_over_pi * scale[i] * c(i, units);
    for (Index j = 0; j < i; ++j) {
      const double correlation = std::max(-1.0, std::min(1.0, c(i, j) * scale[i] * scale[j]));
      sum += 2 * sign[i] * sign[j] * two_over_pi * std::asin(correlation);
    }
  }
  return std::max(0.0, sum);
}

struct BlockView {
  ConstBlock q, r, u;
};
BlockView block_of(const CommitteeModel& model, const VectorXd& state, Index c) {
  const Index l = model.students, m = model.teachers;
  const double* start = state.data() + c * model.block_size();
  return {ConstBlock(start, l, l), ConstBlock(start + l * l, l, m), ConstBlock(start + l * (l + m), l, m + 1)};
}

struct Overlaps {
  MatrixXd q, r, u;
};
// Averages over blocks, weighted by a_c / alpha where asked; U never is.
Overlaps average(const CommitteeModel& model, const VectorXd& state, bool weighted) {
  const Index l = model.students, m = model.teachers, blocks = model.ratio.size();
  Overlaps sum{MatrixXd::Zero(l, l), MatrixXd::Zero(l, m), MatrixXd::Zero(l, m + 1)};
  for (Index c = 0; c < blocks; ++c) {
    const BlockView block = block_of(model, state, c);
    const double weight = (weighted ? model.ratio[c] : 1) / static_cast<double>(blocks);
    sum.q += weight * block.q;
    sum.r += weight * block.r;
    sum.u += block.u / static_cast<double>(blocks);
  }
  return sum;
}

}  // namespace

MatrixXd gradient_coefficients(const MatrixXd& c, Index students, bool linear) {
  const Index n = c.rows(), units = n - 1;
  if (linear) return signs(n, students).transpose().replicate(students, 1);
  MatrixXd b = MatrixXd::Zero(students, n);
  for (Index l = 0; l < students; ++l) {
    // Under the law tilted by g'(h_l), C' = C - C_.l C_l. / (1 + C_ll), and <v g(z)>' = sqrt(2/pi) C'_vz / sqrt(1 + C'_zz).
    const double one_plus = 1 + c(l, l), mass = root_two_over_pi / std::sqrt(one_plus);
    for (Index z = 0; z < units; ++z) {
      const double tilted = c(z, z) - c(z, l) * c(z, l) / one_plus;
      const double weight = sign_of(z, students) * mass * root_two_over_pi / std::sqrt(1 + tilted);
      b(l, z) += weight;
      b(l, l) -= weight * c(z, l) / one_plus;
    }
    b(l, units) -= mass;
    b(l, l) += mass * c(units, l) / one_plus;
  }
  return b;
}

MatrixXd gradient_products(const MatrixXd& c, Index students, bool linear) {
  if (linear) return MatrixXd::Constant(students, students, mean_square(c, students, true));
  const Index n = c.rows();
  MatrixXd d(students, students);
  MatrixXd tilted(n, n);
  for (Index l = 0; l < students; ++l) {
    for (Index k = l; k < students; ++k) {
      // (I + C_(lk))^-1 of the two activations, equal ones included, and C'' = C - C_.(lk) (I + C_(lk))^-1 C_(lk).
      const double a = 1 + c(l, l), b = 1 + c(k, k), off = c(l, k), determinant = a * b - off * off;
      tilted.noalias() =
          c - (b * c.col(l) - off * c.col(k)) * c.row(l) / determinant - (a * c.col(k) - off * c.col(l)) * c.row(k) / determinant;
      d(l, k) = d(k, l) = two_over_pi / std::sqrt(determinant) * mean_square(tilted, students, false);
    }
  }
  return d;
}

double mean_half_square(const MatrixXd& c, Index students, bool linear) { return 0.5 * mean_square(c, students, linear); }

VectorXd committee_start(const CommitteeModel& model, const MatrixXd& q, const MatrixXd& r) {
  const Index l = model.students, m = model.teachers;
  if (q.rows() != l || q.cols() != l || r.rows() != l || r.cols() != m)
    throw InputError("the overlaps at the start have the wrong size.");
  VectorXd state = VectorXd::Zero(model.ratio.size() * model.block_size());
  for (Index c = 0; c < model.ratio.size(); ++c) {
    double* start = state.data() + c * model.block_size();
    Block(start, l, l) = q;
    Block(start + l * l, l, m) = r;
  }
  return state;
}

// Equation (9).
MatrixXd training_covariance(const CommitteeModel& model, const VectorXd& state) {
  const Index l = model.students, m = model.teachers, n = model.variables();
  const Overlaps mean = average(model, state, true);
  MatrixXd c = MatrixXd::Zero(n, n);
  c.topLeftCorner(l, l) = mean.q;
  c.block(0, l, l, m) = mean.r + model.inverse_alpha * mean.u.rightCols(m);
  c.block(0, n - 1, l, 1) = model.inverse_alpha * mean.u.col(0);
  c.block(l, l, m, m) = model.teacher;
  c.block(l, l, m, m).diagonal() += model.noise.tail(m);
  c(n - 1, n - 1) = model.noise[0];
  c.bottomLeftCorner(n - l, l) = c.topRightCorner(l, n - l).transpose();
  return c;
}

MatrixXd test_covariance(const CommitteeModel& model, const MatrixXd& q, const MatrixXd& r) {
  const Index l = model.students, m = model.teachers, n = model.variables();
  MatrixXd c = MatrixXd::Zero(n, n);
  c.topLeftCorner(l, l) = q;
  c.block(0, l, l, m) = r;
  c.block(l, 0, m, l) = r.transpose();
  c.block(l, l, m, m) = model.teacher;
  if (model.noisy_test) {
    c.block(l, l, m, m).diagonal() += model.noise.tail(m);
    c(n - 1, n - 1) = model.noise[0];
  }
  return c;
}

// Equation (11) with the covariances (10) of the components with (h, u, xi_0).
void committee_derivative(const CommitteeModel& model, const VectorXd& state, VectorXd& derivative) {
  const Index l = model.students, m = model.teachers, n = model.variables();
  const MatrixXd c = training_covariance(model, state);
  const MatrixXd b = gradient_coefficients(c, l, model.linear), d = gradient_products(c, l, model.linear);
  derivative.resize(state.size());
  MatrixXd h(l, n), k(m, n), noise(m + 1, n);
  for (Index block = 0; block < model.ratio.size(); ++block) {
    const BlockView now = block_of(model, state, block);
    const double ratio = model.ratio[block];
    h.leftCols(l) = ratio * now.q;
    h.middleCols(l, m) = ratio * now.r + model.inverse_alpha * now.u.rightCols(m);
    h.col(n - 1) = model.inverse_alpha * now.u.col(0);
    k.leftCols(l) = ratio * now.r.transpose();
    k.middleCols(l, m) = ratio * model.teacher;
    k.col(n - 1).setZero();
    noise.setZero();
    if (model.inverse_alpha > 0) {
      noise.leftCols(l) = ratio * now.u.transpose();
      noise(0, n - 1) = ratio * model.noise[0];
      for (Index s = 1; s <= m; ++s) noise(s, l + s - 1) = ratio * model.noise[s];
    }
    double* start = derivative.data() + block * model.block_size();
    const MatrixXd pull = h * b.transpose();
    Block(start, l, l) = -model.eta * (pull + pull.transpose()) + model.eta * model.eta * ratio * d;
    Block(start + l * l, l, m) = -model.eta * b * k.transpose();
    Block(start + l * (l + m), l, m + 1) = -model.eta * b * noise.transpose();
  }
}

CommitteeCurve committee_curve(const CommitteeModel& model, const MatrixXd& q, const MatrixXd& r, ConstVectorRef times,
                               const OdeOptions& options, Monitor& monitor) {
  const Index l = model.students, m = model.teachers;
  if (l < 1 || m < 1) throw InputError("student and teacher need at least one hidden unit each.");
  if (model.teacher.rows() != m || model.teacher.cols() != m || model.noise.size() != m + 1) {
    throw InputError("the teacher's overlaps or the noise have the wrong size.");
  }
  const Index count = times.size();
  CommitteeCurve curve;
  curve.test.resize(count);
  curve.train.resize(count);
  curve.q.resize(l * l, count);
  curve.r.resize(l * m, count);
  curve.u.resize(l * (m + 1), count);
  Index reached = 0;
  const Stopwatch watch;
  const auto derivative = [&](double, const VectorXd& state, VectorXd& out) { committee_derivative(model, state, out); };
  const auto record = [&](Index k, const VectorXd& state) {
    const Overlaps now = average(model, state, false);
    const MatrixXd c = training_covariance(model, state);
    curve.train[k] = mean_half_square(c, l, model.linear);
    curve.test[k] = mean_half_square(test_covariance(model, now.q, now.r), l, model.linear);
    curve.q.col(k) = Eigen::Map<const VectorXd>(now.q.data(), now.q.size());
    curve.r.col(k) = Eigen::Map<const VectorXd>(now.r.data(), now.r.size());
    curve.u.col(k) = Eigen::Map<const VectorXd>(now.u.data(), now.u.size());
    const VectorXd values = SymmetricEigen(c, EigenParts::values).eigenvalues();
    curve.least_eigenvalue = std::min(curve.least_eigenvalue, values[0] / std::max(values[values.size() - 1], 1e-300));
    reached = k + 1;
  };
  curve.ode = integrate_ode(derivative, committee_start(model, q, r), times, options, monitor, record);
  curve.test.conservativeResize(reached);
  curve.train.conservativeResize(reached);
  curve.q.conservativeResize(Eigen::NoChange, reached);
  curve.r.conservativeResize(Eigen::NoChange, reached);
  curve.u.conservativeResize(Eigen::NoChange, reached);
  curve.convergence.converged = !curve.ode.diverged;
  if (curve.ode.diverged) curve.convergence.reason = Stop::unbounded;
  curve.convergence.iterations = static_cast<int>(std::min<long>(curve.ode.steps, std::numeric_limits<int>::max()));
  curve.convergence.seconds = watch.seconds();
  return curve;
}

CommitteeModel committee_model(const CommitteeSetting& s) {
  CommitteeModel model;
  model.students = s.students;
  model.teachers = static_cast<int>(s.teacher.rows());
  model.teacher = s.teacher;
  model.noise = s.noise;
  model.eta = s.eta;
  model.linear = s.activation == CommitteeActivation::linear;
  model.noisy_test = s.noisy_test;
  model.ratio = VectorXd::Ones(1);
  if (std::isfinite(s.alpha)) {
    model.ratio = spectrum_blocks(MarchenkoPastur(s.alpha), s.blocks).mean / s.alpha;
    model.inverse_alpha = 1 / s.alpha;
  }
  return model;
}

bool overlaps_exist(const MatrixXd& q, const MatrixXd& r, const MatrixXd& teacher) {
  const Index l = q.rows(), m = teacher.rows();
  MatrixXd joint(l + m, l + m);
  joint << q, r, r.transpose(), teacher;
  const VectorXd values = SymmetricEigen(joint, EigenParts::values).eigenvalues();
  return values[0] >= -1e-9 * std::max(values[l + m - 1], 1e-300);
}

MatrixXd random_overlaps(double size, const MatrixXd& q, const MatrixXd& teacher, Rng& rng) {
  const SymmetricEigen parts(teacher);
  const MatrixXd root =
      parts.eigenvectors() * parts.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() * parts.eigenvectors().transpose();
  MatrixXd r(q.rows(), teacher.rows());
  for (Index j = 0; j < r.cols(); ++j)
    for (Index i = 0; i < r.rows(); ++i) r(i, j) = size * rng.normal();
  r = (r * root).eval();
  if ((q.diagonal().array() == 0).all()) return MatrixXd::Zero(r.rows(), r.cols());
  for (int k = 0; k < 60; ++k, r /= 2)
    if (overlaps_exist(q, r, teacher)) return r;
  return MatrixXd::Zero(r.rows(), r.cols());
}

}  // namespace granary::kernel
