#include "core/linalg/spd.h"
#include "core/linalg/dense.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

void require_square(ConstMatrixRef a) {
  if (a.rows() != a.cols()) throw InputError(message("expected a square matrix, got ", a.rows(), " x ", a.cols(), "."));
}

// Eigen says only that it failed; the slow factorisation says where. NaN counts as a failure: Eigen lets it through.
bool factor_in_place(MatrixXd& a) {
  const Index n = a.rows();
  LltInPlace llt(a);
  if (llt.info() != Eigen::Success || !a.diagonal().allFinite()) return false;
  for (Index j = 1; j < n; ++j) a.col(j).head(j).setZero();
  return true;
}

std::string why_not_positive_definite(ConstMatrixRef a) {
  const Index n = a.rows();
  MatrixXd l = MatrixXd::Zero(n, n);
  double smallest = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < n; ++j) {
    const double pivot = a(j, j) - l.row(j).head(j).squaredNorm();
    if (!std::isfinite(pivot))
      return message("row ", j + 1, " holds a value that is missing or not finite; remove such rows first.");
    smallest = std::min(smallest, pivot);
    if (pivot <= 0) {
      return message("the leading minor of order ", j + 1, " of ", n, " is not positive (pivot ", pivot, ", diagonal entry ",
                     a(j, j), "); drop linearly dependent variables or add a small ridge to the diagonal.");
    }
    l(j, j) = std::sqrt(pivot);
    if (j + 1 < n) {
      l.col(j).tail(n - j - 1) =
          (a.col(j).tail(n - j - 1) - l.bottomLeftCorner(n - j - 1, j) * l.row(j).head(j).transpose()) / l(j, j);
    }
  }
  return message("it is singular to working precision (smallest pivot ", smallest, "); add a small ridge to the diagonal.");
}

// Turns L (n x n from row and column `from`) into the factor of L L' + v v' by Givens rotations.
void rank_one_update(Eigen::Ref<MatrixXd, 0, Eigen::OuterStride<>> l, VectorXd v) {
  const Index n = l.rows();
  for (Index j = 0; j < n; ++j) {
    if (v[j] == 0) continue;
    const double r = std::hypot(l(j, j), v[j]);
    const double c = l(j, j) / r, s = v[j] / r;
    l(j, j) = r;
    for (Index i = j + 1; i < n; ++i) {
      const double below = l(i, j);
      l(i, j) = c * below + s * v[i];
      v[i] = c * v[i] - s * below;
    }
  }
}

}  // namespace

Cholesky::Cholesky(ConstMatrixRef a) : storage_(a), size_(a.rows()) {
  require_square(a);
  if (!factor_in_place(storage_)) {
    throw NumericalError(message("the matrix is not positive definite: ", why_not_positive_definite(a)));
  }
}

Cholesky Cholesky::from_lower(ConstMatrixRef lower) {
  require_square(lower);
  if (!(lower.diagonal().array() > 0).all()) throw InputError("a Cholesky factor must have a positive diagonal.");
  Cholesky result;
  result.storage_ = lower.triangularView<Eigen::Lower>();
  result.size_ = lower.rows();
  return result;
}

void Cholesky::require_rows(Index rows) const {
  if (rows != size_) throw InputError(message("the right-hand side has ", rows, " rows, the factor ", size_, "."));
}

MatrixXd Cholesky::reconstruct() const { return lower() * lower().transpose(); }

double Cholesky::log_determinant() const { return 2 * lower().diagonal().array().log().sum(); }

double Cholesky::quadratic_form(ConstVectorRef x) const {
  require_rows(x.size());
  return (lower().transpose().triangularView<Eigen::Upper>() * x).squaredNorm();
}

double Cholesky::inverse_quadratic_form(ConstVectorRef b) const { return solve_lower(b).squaredNorm(); }

void Cholesky::update(ConstVectorRef v) {
  require_rows(v.size());
  if (!v.allFinite()) throw InputError("the update vector holds a value that is not finite.");
  rank_one_update(storage_.topLeftCorner(size_, size_), v);
}

void Cholesky::downdate(ConstVectorRef v) {
  const VectorXd p = solve_lower(v);
  const double left = 1 - p.squaredNorm();  // det(A - v v') / det(A)
  if (!(left > epsilon * static_cast<double>(size_))) {
    throw NumericalError(message("removing this rank-one term leaves a matrix that is not positive definite (1 - v'A^-1 v = ",
                                 left, "); refactor from the data or add a ridge."));
  }
  double alpha = std::sqrt(left);
  VectorXd carried = VectorXd::Zero(size_);
  for (Index j = size_ - 1; j >= 0; --j) {
    const double r = std::hypot(alpha, p[j]);
    const double c = alpha / r, s = p[j] / r;
    alpha = r;
    for (Index i = j; i < size_; ++i) {
      const double old = storage_(i, j);
      storage_(i, j) = c * old - s * carried[i];
      carried[i] = c * carried[i] + s * old;
    }
  }
}

void Cholesky::append(ConstVectorRef column, double diagonal) {
  const VectorXd row = solve_lower(column);
  const double pivot = diagonal - row.squaredNorm();
  if (!(pivot > epsilon * std::abs(diagonal)) || !std::isfinite(pivot)) {
    throw NumericalError(message("the new row depends linearly on the ", size_, " before it (pivot ", pivot, ", diagonal ",
                                 diagonal, "); leave it out or add a ridge to its diagonal."));
  }
  if (size_ == storage_.rows()) {
    const Index capacity = std::max<Index>(8, 2 * size_);
    storage_.conservativeResize(capacity, capacity);
  }
  storage_.row(size_).head(size_) = row.transpose();
  storage_.col(size_).head(size_).setZero();
  storage_(size_, size_) = std::sqrt(pivot);
  ++size_;
}

void Cholesky::erase(Index i) {
  if (i < 0 || i >= size_) throw InputError(message("cannot erase row ", i, " of a factor of size ", size_, "."));
  const Index below = size_ - i - 1;
  const VectorXd dropped = storage_.col(i).segment(i + 1, below);
  for (Index r = i; r + 1 < size_; ++r) storage_.row(r).head(i) = storage_.row(r + 1).head(i);
  for (Index j = i; j + 1 < size_; ++j) {
    for (Index r = j; r + 1 < size_; ++r) storage_(r, j) = storage_(r + 1, j + 1);
  }
  --size_;
  rank_one_update(storage_.block(i, i, below, below), dropped);
}

Cholesky cholesky_with_jitter(ConstMatrixRef a, const JitterOptions& options) {
  require_square(a);
  const Index n = a.rows();
  const double scale = n > 0 ? a.diagonal().mean() : 1;
  Cholesky result;
  result.size_ = n;
  for (double relative = 0;; relative = relative == 0 ? options.first : 10 * relative) {
    if (relative > options.last * (1 + 1e-9) || (relative > 0 && !(scale > 0 && std::isfinite(scale)))) {
      throw NumericalError(message("the matrix is not positive definite, even with ", options.last,
                                   " times its mean diagonal added: ", why_not_positive_definite(a)));
    }
    result.storage_ = a;
    result.jitter_ = relative * scale;
    result.storage_.diagonal().array() += result.jitter_;
    if (factor_in_place(result.storage_)) return result;
  }
}

DiagonalPlusLowRank::DiagonalPlusLowRank(ConstVectorRef d, ConstMatrixRef u) {
  if (u.rows() != d.size())
    throw InputError(message("the diagonal has ", d.size(), " entries, the low-rank factor ", u.rows(), " rows."));
  if (!(d.array() > 0).all() || !d.allFinite()) throw InputError("the diagonal part must be positive and finite.");
  root_ = d.cwiseSqrt();
  w_ = root_.cwiseInverse().asDiagonal() * u;
  MatrixXd middle = MatrixXd::Identity(u.cols(), u.cols());
  middle.selfadjointView<Eigen::Lower>().rankUpdate(w_.transpose());
  middle_ = Cholesky(middle);
}

double DiagonalPlusLowRank::log_determinant() const { return 2 * root_.array().log().sum() + middle_.log_determinant(); }

VectorXd DiagonalPlusLowRank::inverse_diagonal() const {
  const MatrixXd half = middle_.solve_lower(w_.transpose());
  return (1 - half.colwise().squaredNorm().transpose().array()) / root_.array().square();
}

BandedCholesky::BandedCholesky(ConstMatrixRef bands) : factor_(bands) {
  if (bands.rows() < 1) throw InputError("banded storage needs at least the diagonal as its first row.");
  const Index n = size(), b = bandwidth();
  for (Index j = 0; j < n; ++j) {
    const double pivot = factor_(0, j);
    if (!(pivot > 0) || !std::isfinite(pivot)) {
      throw NumericalError(message("the banded matrix is not positive definite: the leading minor of order ", j + 1, " of ", n,
                                   " has pivot ", pivot, "; add a small ridge to the diagonal."));
    }
    const Index reach = std::min(b, n - 1 - j);
    factor_(0, j) = std::sqrt(pivot);
    factor_.col(j).segment(1, reach) /= factor_(0, j);
    for (Index k = 1; k <= reach; ++k) {
      factor_.col(j + k).head(reach - k + 1) -= factor_(k, j) * factor_.col(j).segment(k, reach - k + 1);
    }
  }
}

VectorXd BandedCholesky::solve_lower(ConstVectorRef b) const {
  if (b.size() != size()) throw InputError(message("the right-hand side has ", b.size(), " rows, the matrix ", size(), "."));
  VectorXd x = b;
  for (Index j = 0; j < size(); ++j) {
    const Index reach = std::min(bandwidth(), size() - 1 - j);
    x[j] /= factor_(0, j);
    x.segment(j + 1, reach) -= x[j] * factor_.col(j).segment(1, reach);
  }
  return x;
}

VectorXd BandedCholesky::solve_upper(ConstVectorRef b) const {
  if (b.size() != size()) throw InputError(message("the right-hand side has ", b.size(), " rows, the matrix ", size(), "."));
  VectorXd x = b;
  for (Index j = size() - 1; j >= 0; --j) {
    const Index reach = std::min(bandwidth(), size() - 1 - j);
    x[j] = (x[j] - factor_.col(j).segment(1, reach).dot(x.segment(j + 1, reach))) / factor_(0, j);
  }
  return x;
}

VectorXd BandedCholesky::solve(ConstVectorRef b) const { return solve_upper(solve_lower(b)); }

double BandedCholesky::log_determinant() const { return 2 * factor_.row(0).array().log().sum(); }

CgResult conjugate_gradient(const LinearOperator& apply, ConstVectorRef b, const CgOptions& options, Monitor& monitor,
                            const LinearOperator& precondition, ConstVectorRef start) {
  const Stopwatch clock;
  const Index n = b.size();
  if (start.size() != 0 && start.size() != n)
    throw InputError(message("the start has ", start.size(), " entries, expected ", n, "."));
  const int max_iter = options.max_iter > 0 ? options.max_iter : static_cast<int>(std::min<Index>(10 * n + 10, 1000000));
  CgResult result;
  Convergence& end = result.convergence;
  VectorXd& x = result.x;
  x = start.size() == n ? VectorXd(start) : VectorXd(VectorXd::Zero(n));
  const double scale = b.norm();
  if (!std::isfinite(scale)) throw InputError("the right-hand side holds a value that is not finite.");
  if (scale == 0) {
    x.setZero();
    end.converged = true;
    end.residual = 0;
    return result;
  }

  VectorXd r = b, z(n), q(n);
  const auto refresh_residual = [&] {
    apply(x, q);
    r = b - q;
  };
  const auto preconditioned = [&] {
    if (precondition) {
      precondition(r, z);
    } else {
      z = r;
    }
  };
  if (x.squaredNorm() > 0) refresh_residual();
  preconditioned();
  VectorXd direction = z;
  double rz = r.dot(z);
  for (;; ++end.iterations) {
    monitor.check();
    end.residual = r.norm() / scale;
    if (end.residual <= options.tol) {
      refresh_residual();  // the recursion drifts; only the true residual may claim convergence
      end.residual = r.norm() / scale;
      if (end.residual <= 2 * options.tol) {
        end.converged = true;
        break;
      }
      preconditioned();
      direction = z;
      rz = r.dot(z);
    }
    if (end.iterations >= max_iter) {
      end.message = "the iteration limit was reached; raise max_iter or use a better preconditioner";
      break;
    }
    apply(direction, q);
    const double curvature = direction.dot(q);
    if (!(curvature > 0) || !(rz > 0)) {
      end.message = "the operator or its preconditioner is not positive definite";
      break;
    }
    const double step = rz / curvature;
    x += step * direction;
    r -= step * q;
    preconditioned();
    const double next = r.dot(z);
    direction = z + (next / rz) * direction;
    rz = next;
  }
  end.seconds = clock.seconds();
  return result;
}

bool is_symmetric(ConstMatrixRef a, double tol) {
  if (a.rows() != a.cols() || !a.allFinite()) return false;
  if (a.size() == 0) return true;
  return (a - a.transpose()).cwiseAbs().maxCoeff() <= tol * a.cwiseAbs().maxCoeff();
}

double quadratic_form(ConstMatrixRef a, ConstVectorRef x) {
  require_square(a);
  if (x.size() != a.rows()) throw InputError(message("the vector has ", x.size(), " entries, the matrix ", a.rows(), " rows."));
  return x.dot(a.selfadjointView<Eigen::Lower>() * x);
}

MatrixXd nearest_psd(ConstMatrixRef a, double min_eigenvalue) {
  require_square(a);
  if (a.size() == 0) return a;
  if (!a.allFinite()) throw InputError("the matrix holds a value that is missing or not finite.");
  const SymmetricEigen eigen(a);
  if (eigen.info() != Eigen::Success) throw NumericalError("the eigenvalues of the matrix could not be computed; rescale it.");
  if (eigen.eigenvalues()[0] >= min_eigenvalue) return a.selfadjointView<Eigen::Lower>();
  const MatrixXd& q = eigen.eigenvectors();
  MatrixXd result = q * eigen.eigenvalues().cwiseMax(min_eigenvalue).asDiagonal() * q.transpose();
  return 0.5 * (result + result.transpose());
}

NearestCorrelationResult nearest_correlation(ConstMatrixRef a, const NearestCorrelationOptions& options, Monitor& monitor) {
  require_square(a);
  if (!a.allFinite()) throw InputError("the matrix holds a value that is missing or not finite.");
  if (!(options.min_eigenvalue >= 0 && options.min_eigenvalue < 1)) {
    throw InputError(message("min_eigenvalue must be in [0, 1) for a correlation matrix, got ", options.min_eigenvalue, "."));
  }
  const Stopwatch clock;
  NearestCorrelationResult result;
  Convergence& end = result.convergence;
  MatrixXd y = a.selfadjointView<Eigen::Lower>();
  MatrixXd correction = MatrixXd::Zero(y.rows(), y.cols());  // Dykstra's, without which the limit is feasible but not nearest
  if (y.size() == 0) end.converged = true;
  while (!end.converged && end.iterations < options.max_iter) {
    monitor.check();
    ++end.iterations;
    const MatrixXd shifted = y - correction;
    const MatrixXd x = nearest_psd(shifted, options.min_eigenvalue);
    correction = x - shifted;
    const MatrixXd before = y;
    y = x;
    y.diagonal().setOnes();
    end.residual = std::max((y - before).norm(), (y - x).norm()) / std::max(1.0, y.norm());
    end.converged = end.residual <= options.tol;
  }
  if (!end.converged) end.message = "the iteration limit was reached; raise max_iter";
  // y has a unit diagonal but may be indefinite by about tol: clip once more and rescale, which keeps both properties.
  if (y.size() > 0) {
    y = nearest_psd(y, options.min_eigenvalue);
    const VectorXd scale = y.diagonal().cwiseSqrt().cwiseInverse();
    y = scale.asDiagonal() * y * scale.asDiagonal();
    y.diagonal().setOnes();
  }
  result.correlation = std::move(y);
  end.seconds = clock.seconds();
  return result;
}

}  // namespace granary
