#include "ensemble/cv_linear.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::ensemble {

namespace {

constexpr Index max_dense_rows = 4000;
constexpr double max_stored = 2e8;  // doubles kept for pairs of splits

MatrixXd rows_of(const MatrixXd& x, const std::vector<Index>& rows) {
  MatrixXd out(static_cast<Index>(rows.size()), x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) out.row(static_cast<Index>(i)) = x.row(rows[i]);
  return out;
}

// A design in an orthonormal basis, where least squares has X'X = I; what the splits need of it.
class Smoother {
 public:
  Smoother(ConstMatrixRef x, const CvLinearOptions& options) : options_(options), n_(x.rows()) {
    if (options.splits.empty()) throw InputError("there must be at least one split.");
    if (!(options.lambda >= 0)) throw InputError("`lambda` must not be negative.");
    MatrixXd design = with_intercept(reduced(x), options.intercept);
    const Index p = design.cols();
    if (options.lambda == 0 && p > n_)
      throw InputError(message("least squares needs at least as many rows as coefficients, ", p, ", but there are ", n_,
          " rows."));
    if (options.lambda == 0) {
      const PivotedQr pivoted(design);
      if (pivoted.rank() < p)
        throw InputError(message("the columns of `x` are linearly dependent", options.intercept ? " (with the intercept)" : "",
                                 ": rank ", pivoted.rank(), " of ", p, ". Drop columns, or use ridge regression."));
      x_ = pivoted.thin_q(p);
      penalty_ = MatrixXd::Zero(p, p);
    } else {
      x_ = design;
      penalty_ = options.lambda * MatrixXd::Identity(p, p);
      if (options.intercept) penalty_(0, 0) = 0;
    }
    whole_ = options.lambda == 0 ? MatrixXd::Identity(p, p) : MatrixXd(x_.transpose() * x_);
    inverse_ = inverse(whole_, "all rows");
    const MatrixXd half = inverse_ * whole_;
    second_ = 2 * inverse_ - half * inverse_;  // M^2 = I - X N X'
  }

  Index rows() const { return n_; }
  Index size() const { return x_.cols(); }
  std::size_t count() const { return options_.splits.size(); }
  const std::vector<Index>& test(std::size_t j) const { return options_.splits[j]; }
  double share(std::size_t j) const { return 1 / (static_cast<double>(count()) * static_cast<double>(test(j).size())); }  // w_j
  const MatrixXd& x() const { return x_; }
  const MatrixXd& whole() const { return whole_; }
  const MatrixXd& full_inverse() const { return inverse_; }
  const MatrixXd& second() const { return second_; }
  MatrixXd test_rows(std::size_t j) const { return rows_of(x_, test(j)); }

  // G_S, by the rows of the test set where they are few.
  MatrixXd train_inverse(std::size_t j, const MatrixXd& xt) const {
    const Index m = xt.rows();
    if (m >= size() / 2) return inverse(whole_ - xt.transpose() * xt, split_name(j));
    const MatrixXd left = inverse_ * xt.transpose();
    const Llt factor(MatrixXd::Identity(m, m) - xt * left);
    if (factor.info() != Eigen::Success || factor.matrixLLT().diagonal().minCoeff() < 1e-5) singular(split_name(j));
    return inverse_ + left * factor.solve(left.transpose());
  }

  VectorXd residual(ConstVectorRef y) const { return y - x_ * (inverse_ * (x_.transpose() * y)); }

 private:
  static MatrixXd with_intercept(const MatrixXd& x, bool intercept) {
    if (!intercept) return x;
    MatrixXd out(x.rows(), x.cols() + 1);
    out.col(0).setOnes();
    out.rightCols(x.cols()) = x;
    return out;
  }

  // Wide designs of ridge regression in as many columns as they have rows: X = L Q' has the same products with itself.
  MatrixXd reduced(ConstMatrixRef x) const {
    if (x.cols() < x.rows() || options_.lambda == 0) return x;
    const Qr factor(MatrixXd(x.transpose()));
    return factor.r().transpose();
  }

  MatrixXd inverse(const MatrixXd& gram, const std::string& what) const {
    const MatrixXd a = gram + penalty_;
    const Llt factor(a);
    const Index p = a.rows();
    if (p == 0) return a;
    if (factor.info() != Eigen::Success) singular(what);
    for (Index k = 0; k < p; ++k) {
      const double pivot = factor.matrixLLT()(k, k);
      if (pivot * pivot < 1e-10 * std::max(whole_.size() > 0 ? whole_(k, k) : a(k, k), a(k, k))) singular(what);
    }
    return factor.solve(MatrixXd::Identity(p, p));
  }

  std::string split_name(std::size_t j) const { return message("the training rows of split ", j + 1); }
  [[noreturn]] void singular(const std::string& what) const {
    throw InputError(message(what, " do not determine the coefficients: too few, or dependent columns among them.",
                             " Use smaller test sets, fewer columns, or ridge regression."));
  }

  const CvLinearOptions& options_;
  Index n_;
  MatrixXd x_, penalty_, whole_, inverse_, second_;
};

// The blocks of C: I + X_T K X_T'.
MatrixXd block(const MatrixXd& g, const MatrixXd& gram) { return 2 * g + g * gram * g; }

std::vector<Index> shared_rows(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

TestSets sorted(TestSets sets) {
  for (auto& rows : sets) std::sort(rows.begin(), rows.end());
  return sets;
}

bool overlapping(const CvLinearOptions& options, Index n) {
  std::vector<char> seen(static_cast<std::size_t>(n), 0);
  for (const auto& rows : options.splits)
    for (const Index i : rows)
      if (seen[static_cast<std::size_t>(i)]++) return true;
  return false;
}

void check_splits(const CvLinearOptions& options, Index n) {
  for (std::size_t j = 0; j < options.splits.size(); ++j) {
    const auto& rows = options.splits[j];
    if (rows.empty()) throw InputError(message("the test set of split ", j + 1, " is empty."));
    if (static_cast<Index>(rows.size()) >= n) throw InputError(message("split ", j + 1, " leaves no row to train on."));
    std::vector<char> seen(static_cast<std::size_t>(n), 0);
    for (const Index i : rows) {
      if (i < 0 || i >= n) throw InputError(message("split ", j + 1, " tests row ", i + 1, ", but there are ", n, " rows."));
      if (seen[static_cast<std::size_t>(i)]++) throw InputError(message("split ", j + 1, " tests row ", i + 1, " twice."));
    }
  }
}

// Variance, skewness and excess kurtosis of the errors from residuals e = M y, freed of what M does to fourth powers.
void error_law(const Smoother& s, const VectorXd& e, double given, CvVariance& v) {
  const Index n = s.rows();
  const double freedom = static_cast<double>(n) - (s.second() * s.whole()).trace();  // tr M^2
  if (!(freedom > 1e-6))
    throw InputError("there are no residuals left to estimate the variance of the errors from: use fewer columns.");
  v.noise_var = e.squaredNorm() / freedom;
  v.skew = v.kurtosis = 0;
  if (!(v.noise_var > 0)) return;
  const MatrixXd xg = s.x() * s.full_inverse();
  double third = 0, fourth = 0, cubes = 0, quarts = 0, squares = 0;
  for (Index i = 0; i < n; ++i) {
    const double z = e[i] / std::sqrt(v.noise_var), m = 1 - xg.row(i).dot(s.x().row(i)), variance = 1 -
        s.x().row(i).dot(s.second() * s.x().row(i).transpose());
    third += z * z * z;
    fourth += z * z * z * z;
    cubes += m * m * m;
    quarts += m * m * m * m;
    squares += variance * variance;
  }
  v.skew = cubes > 0 ? third / cubes : 0;
  v.kurtosis = !std::isnan(given) ? given : quarts > 0 ? std::max(-2.0, (fourth - 3 * squares) / quarts) : 0;
}

double combine(const CvVariance& v) {
  const double s2 = v.noise_var;
  return s2 * s2 * (2 * v.trace_square + v.kurtosis * v.diagonal_square) + 4 * s2 * v.shift + 4 * v.skew * s2 * std::sqrt(s2) *
      v.shift_diagonal;
}

// E y as well as the data tell: the least squares fit where there are rows enough, else the smoother's own.
VectorXd mean_of_response(const Smoother& s, ConstMatrixRef x, ConstVectorRef y, const CvLinearOptions& options) {
  if (options.lambda == 0) return y - s.residual(y);
  if (2 * (x.cols() + 1) > x.rows()) return y - s.residual(y);
  MatrixXd design(x.rows(), x.cols() + 1);
  design.col(0).setOnes();
  design.rightCols(x.cols()) = x;
  const MatrixXd q = PivotedQr(design).thin_q();
  return q * (q.transpose() * y);
}

}  // namespace

CvLinearResult cv_linear(ConstMatrixRef x, ConstVectorRef y, const CvLinearOptions& raw, Monitor& monitor) {
  CvLinearOptions options = raw;
  const Index n = y.size();
  check_splits(options, n);
  const TestSets as_given = options.splits;
  options.splits = sorted(options.splits);
  const Smoother s(x, options);
  const Index p = s.size();
  const std::size_t count = s.count();
  const bool overlap = overlapping(options, n);
  if (overlap && static_cast<double>(count) * static_cast<double>(p * p) > max_stored)
    throw InputError(message(count, " overlapping splits with ", p, " coefficients need too much memory. Use fewer splits."));

  CvLinearResult out;
  const VectorXd r = s.residual(y);
  out.fitted = y - r;
  const VectorXd m = mean_of_response(s, x, y, options), v = s.residual(m);
  std::vector<MatrixXd> kept(overlap ? count : 0);
  std::vector<VectorXd> errors(count);
  MatrixXd cx = MatrixXd::Zero(n, p);
  VectorXd diagonal = VectorXd::Zero(n), cv = VectorXd::Zero(n);
  out.split_mean.resize(static_cast<Index>(count));
  double own_square = 0;  // sum_j tr(C_j^2) where no two splits meet
  for (std::size_t j = 0; j < count; ++j) {
    monitor.check();
    const auto& rows = s.test(j);
    const double w = s.share(j);
    const MatrixXd xt = s.test_rows(j), gram = xt.transpose() * xt, g = s.train_inverse(j, xt), k = block(g, gram);
    VectorXd rt(xt.rows()), vt(xt.rows());
    for (Index a = 0; a < rt.size(); ++a) {
      rt[a] = r[rows[static_cast<std::size_t>(a)]];
      vt[a] = v[rows[static_cast<std::size_t>(a)]];
    }
    const VectorXd e = rt + xt * (g * (xt.transpose() * rt));
    // errors in the order in which the rows were given
    errors[j].resize(e.size());
    for (Index a = 0; a < e.size(); ++a) {
      const auto at = std::lower_bound(rows.begin(), rows.end(), as_given[j][static_cast<std::size_t>(a)]) - rows.begin();
      errors[j][a] = e[at];
    }
    out.split_mean[static_cast<Index>(j)] = e.squaredNorm() / static_cast<double>(e.size());
    const MatrixXd xk = xt * k, part = xt + xk * gram;
    const VectorXd cvt = vt + xk * (xt.transpose() * vt);
    for (Index a = 0; a < rt.size(); ++a) {
      const Index i = rows[static_cast<std::size_t>(a)];
      diagonal[i] += w * (1 + xk.row(a).dot(xt.row(a)));
      cx.row(i) += w * part.row(a);
      cv[i] += w * cvt[a];
    }
    const MatrixXd kg = k * gram;
    own_square += w * w * (static_cast<double>(rows.size()) + 2 * kg.trace() + (kg * kg).trace());
    if (overlap) kept[j] = k;
  }
  Index total = 0;
  for (const auto& e : errors) total += e.size();
  out.errors.resize(total);
  Index at = 0;
  for (const auto& e : errors) {
    out.errors.segment(at, e.size()) = e;
    at += e.size();
  }

  // tr C^2 = sum over pairs of splits of |I + X K X'| o |I + X K' X'| on the rows they share
  double square = own_square;
  if (overlap) {
    std::vector<double> by_split(count, 0);
    parallel_for(static_cast<Index>(count), options.threads, monitor, [&](Index first) {
      const std::size_t j = static_cast<std::size_t>(first);
      for (std::size_t l = j + 1; l < count; ++l) {
        const auto common = shared_rows(s.test(j), s.test(l));
        if (common.empty()) continue;
        const MatrixXd xc = rows_of(s.x(), common), gram = xc.transpose() * xc;
        const MatrixXd a = kept[j] * gram, b = kept[l] * gram;
        by_split[j] += 2 * s.share(j) * s.share(l) * (static_cast<double>(common.size()) + a.trace() + b.trace() +
            (a * b).trace());
      }
      monitor.check();
    });
    for (const double part : by_split) square += part;
  }
  const MatrixXd xcx = s.x().transpose() * cx, inner = xcx * s.second();
  CvVariance& var = out.variance;
  var.trace = diagonal.sum() - inner.trace();
  var.trace_square = square - 2 * (cx.transpose() * cx * s.second()).trace() + (inner * inner).trace();
  const MatrixXd xg = s.x() * s.full_inverse(), xgc = xg * xcx;
  VectorXd a_diagonal(n);
  for (Index i = 0; i < n; ++i) a_diagonal[i] = diagonal[i] - 2 * cx.row(i).dot(xg.row(i)) + xgc.row(i).dot(xg.row(i));
  var.diagonal_square = a_diagonal.squaredNorm();
  const VectorXd am = s.residual(cv);
  var.shift = am.squaredNorm();
  var.shift_diagonal = a_diagonal.dot(am);
  if (options.lambda == 0) var.shift = var.shift_diagonal = 0;  // M m = 0 up to rounding
  error_law(s, r, options.kurtosis, var);
  var.expected = var.noise_var * var.trace + (options.lambda == 0 ? 0.0 : m.dot(am));
  var.exact = std::max(0.0, combine(var));
  return out;
}

MomentParts cv_linear_moment(ConstMatrixRef x, const LossMoments& loss, const CvLinearOptions& raw, Monitor& monitor) {
  CvLinearOptions options = raw;
  const Index n = x.rows();
  check_splits(options, n);
  options.splits = sorted(options.splits);
  const Smoother s(x, options);
  const std::size_t count = s.count();
  const Index p = s.size();
  if (static_cast<double>(count) * static_cast<double>(p * p) > max_stored)
    throw InputError(message(count, " splits with ", p, " coefficients need too much memory for the moment approximation."));
  std::vector<MatrixXd> g(count), gram(count);
  const double s2 = loss.noise_var, level = s2 * loss.slope * loss.slope, bend = s2 * s2 / 2 * loss.curvature * loss.curvature;
  MomentParts out;
  VectorXd own(static_cast<Index>(count));
  std::vector<VectorXd> leverage(count);
  parallel_for(static_cast<Index>(count), options.threads, monitor, [&](Index at) {
    monitor.check();
    const std::size_t j = static_cast<std::size_t>(at);
    const MatrixXd xt = s.test_rows(j);
    gram[j] = xt.transpose() * xt;
    g[j] = s.train_inverse(j, xt);
    const MatrixXd xg = xt * g[j], gw = g[j] * gram[j];
    leverage[j] = xg.cwiseProduct(xt).rowwise().sum();
    const double size = static_cast<double>(xt.rows()), sum_h = leverage[j].sum(), sum_h2 = leverage[j].squaredNorm();
    const double all_h = (xt.colwise().sum() * g[j]).dot(xt.colwise().sum()), all_h2 = (gw * gw).trace();
    own[at] = (size * loss.var + s2 * (loss.cov_curvature + loss.slope_square) * sum_h + level * (all_h - sum_h) + bend *
        (all_h2 - sum_h2)) /
              (size * size);
  });
  out.split = own.mean();
  out.pair = std::numeric_limits<double>::quiet_NaN();
  double pairs = 0;
  if (count > 1) {
    std::vector<double> by_split(count, 0);
    parallel_for(static_cast<Index>(count), options.threads, monitor, [&](Index first) {
      const std::size_t j = static_cast<std::size_t>(first);
      const Eigen::RowVectorXd sum_j = s.test_rows(j).colwise().sum();
      for (std::size_t l = j + 1; l < count; ++l) {
        monitor.check();
        const auto common = shared_rows(s.test(j), s.test(l));
        const MatrixXd xc = rows_of(s.x(), common);
        const MatrixXd both = s.whole() - gram[j] - gram[l] + xc.transpose() * xc;
        const MatrixXd q = g[j] * both * g[l];
        const Eigen::RowVectorXd sum_l = s.test_rows(l).colwise().sum();
        const MatrixXd left = q.transpose() * gram[j];
        double value = level * (sum_j * q).dot(sum_l) + bend * (left * q * gram[l]).trace();
        const MatrixXd xq = xc * q;
        for (Index a = 0; a < xc.rows(); ++a) {
          const double qii = xq.row(a).dot(xc.row(a));
          const auto place = [&](std::size_t k) {
            return std::lower_bound(s.test(k).begin(), s.test(k).end(), common[static_cast<std::size_t>(a)]) - s.test(k).begin();
          };
          const double h = leverage[j][place(j)], other = leverage[l][place(l)];
          value += loss.var + s2 / 2 * loss.cov_curvature * (h + other) + (s2 * loss.slope_square - level) * qii +
                   s2 * s2 / 4 * loss.curvature_var * h * other;
        }
        by_split[j] += value / (static_cast<double>(s.test(j).size()) * static_cast<double>(s.test(l).size()));
      }
    });
    for (const double part : by_split) pairs += part;
    out.pair = pairs / (0.5 * static_cast<double>(count) * (static_cast<double>(count) - 1));
  }
  const double splits = static_cast<double>(count);
  out.total = out.split / splits + (count > 1 ? (splits - 1) / splits * out.pair : 0.0);
  return out;
}

MatrixXd cv_linear_matrix(ConstMatrixRef x, const CvLinearOptions& raw, Monitor& monitor) {
  CvLinearOptions options = raw;
  const Index n = x.rows();
  if (n > max_dense_rows)
    throw InputError(message("the matrix of a quadratic form is made for up to ", max_dense_rows, " rows, not ", n, "."));
  check_splits(options, n);
  options.splits = sorted(options.splits);
  const Smoother s(x, options);
  MatrixXd c = MatrixXd::Zero(n, n);
  for (std::size_t j = 0; j < s.count(); ++j) {
    monitor.check();
    const MatrixXd xt = s.test_rows(j), k = block(s.train_inverse(j, xt), xt.transpose() * xt), part = xt * k * xt.transpose();
    const auto& rows = s.test(j);
    const double w = s.share(j);
    for (std::size_t b = 0; b < rows.size(); ++b) {
      c(rows[b], rows[b]) += w;
      for (std::size_t a = 0; a < rows.size(); ++a) c(rows[a], rows[b]) += w * part(static_cast<Index>(a), static_cast<Index>(b));
    }
  }
  // M C M
  const MatrixXd xg = s.x() * s.full_inverse(), cx = c * s.x();
  c -= cx * xg.transpose();
  const MatrixXd left = s.x().transpose() * c;
  c -= xg * left;
  return (c + c.transpose()) / 2;
}

CvDifference cv_linear_difference(ConstMatrixRef x, ConstMatrixRef z, ConstVectorRef y, const CvLinearOptions& a,
    const CvLinearOptions& b,
                                  Monitor& monitor) {
  if (a.splits != b.splits) throw InputError("both learners must be tested on the same splits.");
  const MatrixXd d = cv_linear_matrix(x, a, monitor) - cv_linear_matrix(z, b, monitor);
  const bool first = x.cols() >= z.cols();  // the larger model knows more of E y and of the errors
  const CvLinearOptions& options = first ? a : b;
  const ConstMatrixRef larger = first ? x : z;
  CvLinearOptions plain = options;
  if (larger.cols() + 1 < larger.rows() / 2) plain.lambda = 0;
  const Smoother s(larger, plain);
  CvVariance v;
  const VectorXd r = s.residual(y), m = y - r, dm = d * m, diagonal = d.diagonal();
  error_law(s, r, a.kurtosis, v);
  v.trace = d.trace();
  v.trace_square = d.squaredNorm();
  v.diagonal_square = diagonal.squaredNorm();
  v.shift = dm.squaredNorm();
  v.shift_diagonal = diagonal.dot(dm);
  CvDifference out;
  out.estimate = y.dot(d * y);
  out.expected = v.noise_var * v.trace + m.dot(dm);
  out.exact = std::max(0.0, combine(v));
  return out;
}

}  // namespace granary::ensemble
