// Variance of cross-validated errors: quadratic forms against brute force, closed forms against enumeration.
#include <algorithm>
#include <cmath>

#include "core/base/convergence.h"
#include "core/linalg/dense.h"
#include "core/random/rng.h"
#include "ensemble/cv_linear.h"
#include "ensemble/cv_moments.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

TestSets random_splits(Rng& rng, Index n, Index test, int count) {
  TestSets out;
  for (int j = 0; j < count; ++j) {
    std::vector<Index> rows;
    for (const int i : rng.sample_without_replacement(static_cast<int>(n), static_cast<int>(test))) rows.push_back(i);
    out.push_back(rows);
  }
  return out;
}

TestSets partition(Index n, Index folds) {
  TestSets out(static_cast<std::size_t>(folds));
  for (Index i = 0; i < n; ++i) out[static_cast<std::size_t>(i % folds)].push_back(i);
  return out;
}

MatrixXd normals(Rng& rng, Index n, Index p) {
  MatrixXd x(n, p);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  return x;
}

// Errors of one split by fitting the training rows.
VectorXd fitted_errors(const MatrixXd& x, const VectorXd& y, const std::vector<Index>& test, double lambda, bool intercept) {
  const Index n = x.rows(), p = x.cols() + (intercept ? 1 : 0);
  MatrixXd design(n, p);
  if (intercept) design.col(0).setOnes();
  design.rightCols(x.cols()) = x;
  MatrixXd gram = MatrixXd::Zero(p, p);
  VectorXd right = VectorXd::Zero(p);
  for (Index i = 0; i < n; ++i) {
    if (std::find(test.begin(), test.end(), i) != test.end()) continue;
    gram += design.row(i).transpose() * design.row(i);
    right += design.row(i).transpose() * y[i];
  }
  for (Index k = intercept ? 1 : 0; k < p; ++k) gram(k, k) += lambda;
  const VectorXd b = Lu(gram).solve(right);
  VectorXd e(static_cast<Index>(test.size()));
  for (std::size_t a = 0; a < test.size(); ++a) e[static_cast<Index>(a)] = y[test[a]] - design.row(test[a]).dot(b);
  return e;
}

}  // namespace

TEST("errors of all splits from one fit are those of fits to the training rows") {
  Rng rng(1);
  Monitor monitor;
  for (const double lambda : {0.0, 2.5})
    for (const bool intercept : {true, false})
      for (const Index p : {Index(1), Index(4)}) {
        const MatrixXd x = normals(rng, 25, p);
        const VectorXd y = rng.normals(25);
        CvLinearOptions options;
        options.lambda = lambda;
        options.intercept = intercept;
        options.splits = random_splits(rng, 25, 6, 4);
        options.splits.push_back({3});
        const CvLinearResult found = cv_linear(x, y, options, monitor);
        Index at = 0;
        for (std::size_t j = 0; j < options.splits.size(); ++j) {
          const VectorXd e = fitted_errors(x, y, options.splits[j], lambda, intercept);
          CHECK_NEAR((found.errors.segment(at, e.size()) - e).cwiseAbs().maxCoeff(), 0, 1e-10);
          CHECK_NEAR(found.split_mean[static_cast<Index>(j)], e.squaredNorm() / static_cast<double>(e.size()), 1e-10);
          at += e.size();
        }
      }
}

TEST("traces without an n x n matrix are those of the matrix, which gives the estimate") {
  Rng rng(2);
  Monitor monitor;
  for (const double lambda : {0.0, 1.0, 30.0}) {
    for (int kind = 0; kind < 3; ++kind) {
      const Index n = 24, p = 3;
      const MatrixXd x = normals(rng, n, p);
      const VectorXd y = rng.normals(n);
      CvLinearOptions options;
      options.lambda = lambda;
      options.kurtosis = 0;
      options.splits = kind == 0 ? random_splits(rng, n, 7, 5) : partition(n, kind == 1 ? 4 : n);
      const CvLinearResult found = cv_linear(x, y, options, monitor);
      const MatrixXd a = cv_linear_matrix(x, options, monitor);
      CHECK_NEAR(y.dot(a * y), found.split_mean.mean(), 1e-10);
      CHECK_NEAR(found.variance.trace, a.trace(), 1e-10);
      CHECK_NEAR(found.variance.trace_square, a.squaredNorm(), 1e-10);
      CHECK_NEAR(found.variance.diagonal_square, a.diagonal().squaredNorm(), 1e-10);
      if (lambda > 0) {
        MatrixXd design(n, p + 1);
        design.col(0).setOnes();
        design.rightCols(p) = x;
        const MatrixXd q = PivotedQr(design).thin_q();
        const VectorXd m = q * (q.transpose() * y);
        CHECK_NEAR(found.variance.shift, (a * m).squaredNorm(), 1e-10);
        CHECK_NEAR(found.variance.shift_diagonal, a.diagonal().dot(a * m), 1e-10);
      }
    }
  }
}

TEST("leaving one out gives PRESS, and its matrix is M D^-2 M / n") {
  Rng rng(3);
  Monitor monitor;
  const Index n = 15;
  const MatrixXd x = normals(rng, n, 2);
  const VectorXd y = rng.normals(n);
  CvLinearOptions options;
  options.splits = partition(n, n);
  MatrixXd design(n, 3);
  design.col(0).setOnes();
  design.rightCols(2) = x;
  const MatrixXd q = PivotedQr(design).thin_q(), m = MatrixXd::Identity(n, n) - q * q.transpose();
  const MatrixXd wanted = m * m.diagonal().array().square().inverse().matrix().asDiagonal() * m / static_cast<double>(n);
  CHECK_NEAR((cv_linear_matrix(x, options, monitor) - wanted).cwiseAbs().maxCoeff(), 0, 1e-12);
  const VectorXd e = m * y;
  CHECK_NEAR(cv_linear(x, y, options, monitor).split_mean.mean(), (e.array() / m.diagonal().array()).square().mean(), 1e-12);
}

TEST("two signs as errors: the exact variance is that of all 2^n of them") {
  Monitor monitor;
  const Index n = 10;
  const MatrixXd none(n, 0);
  CvLinearOptions options;
  options.kurtosis = -2;
  Rng rng(4);
  for (int kind = 0; kind < 2; ++kind) {
    options.splits = kind == 0 ? partition(n, 5) : random_splits(rng, n, 3, 4);
    double sum = 0, square = 0;
    VectorXd y(n);
    const int count = 1 << n;
    for (int code = 0; code < count; ++code) {
      for (Index i = 0; i < n; ++i) y[i] = (code >> i) & 1 ? 1 : -1;
      double mu = 0;
      for (const auto& test : options.splits) mu += fitted_errors(none, y, test, 0, true).squaredNorm() / static_cast<double>(test.size());
      mu /= static_cast<double>(options.splits.size());
      sum += mu;
      square += mu * mu;
    }
    const double mean = sum / count, variance = square / count - mean * mean;
    y.setOnes();
    y.head(5).setConstant(-1);
    const CvVariance v = cv_linear(none, y, options, monitor).variance;
    CHECK_NEAR(v.trace, mean, 1e-10);
    CHECK_NEAR(2 * v.trace_square - 2 * v.diagonal_square, variance, 1e-10);
  }
}

TEST("the closed forms for the mean average the quadratic form over splits") {
  const CvPlan halves{12, 6, 2, 1, CvScheme::kfold, 0}, thirds{12, 8, 3, 1, CvScheme::kfold, 0};
  CHECK_NEAR(mean_exact(halves).split, 0.5, 1e-12);
  CHECK_NEAR(mean_exact(halves).pair, 2.0 / 9, 1e-12);
  CHECK_NEAR(mean_exact(thirds).split, 0.65625, 1e-12);
  CHECK_NEAR(mean_exact(thirds).pair, 0.0703125, 1e-12);
  const CvPlan random{20, 15, 15, 1, CvScheme::random, 0};
  CHECK_NEAR(mean_exact(random).pair, 0.11977, 5e-6);
  Monitor monitor;
  const VectorXd y = VectorXd::LinSpaced(12, 0, 1);
  CvLinearOptions options;
  options.kurtosis = 0;
  for (const Index k : {Index(2), Index(3), Index(6)}) {
    options.splits = partition(12, k);
    for (const double kurtosis : {0.0, -2.0, 5.0}) {
      const CvVariance v = cv_linear(MatrixXd(12, 0), y, options, monitor).variance;
      const CvPlan plan{12, 12.0 - 12.0 / static_cast<double>(k), static_cast<double>(k), 1, CvScheme::kfold, kurtosis};
      CHECK_NEAR(mean_exact(plan).total, 2 * v.trace_square + kurtosis * v.diagonal_square, 1e-12);
    }
  }
  // all pairs of test sets of 2 among 6 rows, equally likely and with repetition: the law of two random splits
  TestSets all;
  for (Index a = 0; a < 6; ++a)
    for (Index b = a + 1; b < 6; ++b) all.push_back({a, b});
  options.splits = all;
  const CvVariance v = cv_linear(MatrixXd(6, 0), VectorXd::LinSpaced(6, 0, 1), options, monitor).variance;
  for (const double kurtosis : {0.0, 3.0})  // the mean over all ordered pairs is the covariance of two independent splits
    CHECK_NEAR(mean_exact({6, 4, 1e12, 1, CvScheme::random, kurtosis}).total, 2 * v.trace_square + kurtosis * v.diagonal_square, 1e-10);
}

TEST("the moment approximation for least squares is its sum over pairs of rows") {
  Rng rng(5);
  Monitor monitor;
  const Index n = 14;
  const MatrixXd x = normals(rng, n, 2);
  MatrixXd design(n, 3);
  design.col(0).setOnes();
  design.rightCols(2) = x;
  LossMoments loss;
  loss.var = 1.7;
  loss.slope = 0.3;
  loss.slope_square = 2.1;
  loss.curvature = 1.2;
  loss.curvature_var = 0.4;
  loss.cov_curvature = -0.2;
  loss.noise_var = 0.8;
  CvLinearOptions options;
  options.splits = random_splits(rng, n, 4, 3);
  const MomentParts found = cv_linear_moment(x, loss, options, monitor);
  const double s2 = loss.noise_var, level = s2 * loss.slope * loss.slope, bend = s2 * s2 / 2 * loss.curvature * loss.curvature;
  const auto in = [](const std::vector<Index>& rows, Index i) { return std::find(rows.begin(), rows.end(), i) != rows.end(); };
  const auto gram = [&](const std::vector<Index>& a, const std::vector<Index>& b) {
    MatrixXd out = MatrixXd::Zero(3, 3);
    for (Index i = 0; i < n; ++i)
      if (!in(a, i) && !in(b, i)) out += design.row(i).transpose() * design.row(i);
    return out;
  };
  double split = 0, pair = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    const auto& t = options.splits[j];
    const MatrixXd g = Lu(gram(t, t)).inverse();
    for (const Index a : t)
      for (const Index b : t) {
        const double h = design.row(a).dot(g * design.row(b).transpose());
        split += (a == b ? loss.var + s2 * h * (loss.cov_curvature + loss.slope_square) : level * h + bend * h * h) / 16 / 3;
      }
    for (std::size_t l = 0; l < 3; ++l) {
      if (l == j) continue;
      const auto& u = options.splits[l];
      const MatrixXd other = Lu(gram(u, u)).inverse(), q = g * gram(t, u) * other;
      for (const Index a : t)
        for (const Index b : u) {
          const double value = design.row(a).dot(q * design.row(b).transpose());
          const double h = design.row(a).dot(g * design.row(a).transpose()), k = design.row(b).dot(other * design.row(b).transpose());
          pair += (a == b ? loss.var + s2 / 2 * loss.cov_curvature * (h + k) + s2 * loss.slope_square * value + bend * value * value +
                                s2 * s2 / 4 * loss.curvature_var * h * k
                          : level * value + bend * value * value) / 16 / 6;
        }
    }
  }
  CHECK_NEAR(found.split, split, 1e-12);
  CHECK_NEAR(found.pair, pair, 1e-12);
  CHECK_NEAR(found.total, split / 3 + 2 * pair / 3, 1e-12);
}

TEST("k-fold and random forms of the paper for normal data") {
  for (const double k : {4.0, 5.0, 10.0, 100.0}) {
    const CvPlan plan{100, 100 - 100 / k, k, 1, CvScheme::kfold, 0};
    CHECK_NEAR(mean_normal(plan).total, (2 + 3 * k / (100 * (k - 1))) / 100, 1e-14);
  }
  const double n = 100, n1 = 75, n2 = 25, splits = 15;
  CHECK_NEAR(mean_normal({n, n1, splits, 1, CvScheme::random, 0}).total,
             2 * (n1 + 2) / (n1 * n2 * splits) + (splits - 1) / splits * (2 * (n + 2) / (n * n) - 1 / (n1 * n1)), 1e-14);
}

TEST("the overlap of training sets is hypergeometric") {
  const VectorXd law = overlap_law(10, 7);
  CHECK(law.size() == 4);
  CHECK_NEAR(law.sum(), 1, 1e-14);
  double mean = 0;
  for (Index k = 0; k < 4; ++k) mean += law[k] * static_cast<double>(4 + k);
  CHECK_NEAR(mean, 4.9, 1e-12);
  CHECK_NEAR(law[3], 1.0 / 120, 1e-14);
}

TEST("derivatives of the losses are slopes of the losses") {
  const VectorXd x = VectorXd::LinSpaced(41, -0.37, 0.41);
  VectorXd group(41);
  for (Index i = 0; i < 41; ++i) group[i] = i % 2 ? 1 : -1;
  for (const CvLoss kind : {CvLoss::squared, CvLoss::absolute, CvLoss::smooth}) {
    const LossOptions options{kind, 0.1};
    const double h = 1e-5;
    const auto mean_at = [&](double m) { return loss_moments(VectorXd::Constant(41, m), x, group, options).mean; };
    const LossMoments at = loss_moments(VectorXd::Constant(41, 0.013), x, group, options);
    CHECK_NEAR(at.slope, (mean_at(0.013 + h) - mean_at(0.013 - h)) / (2 * h), 1e-6);
    CHECK_NEAR(at.curvature, (mean_at(0.013 + h) - 2 * mean_at(0.013) + mean_at(0.013 - h)) / (h * h), 2e-3);
  }
}

TEST("equal means of splits have no variance, one split has none that is known") {
  CHECK_NEAR(nadeau_bengio(VectorXd::Constant(5, 0.3), 80, 20, Convergence::unknown), 0, 1e-30);
  CHECK(std::isnan(nadeau_bengio(VectorXd::Constant(1, 0.3), 80, 20, Convergence::unknown)));
  const VectorXd mu = VectorXd::LinSpaced(5, 1, 2);
  CHECK_NEAR(nadeau_bengio(mu, 80, 20, Convergence::unknown), (0.2 + 0.25) * 0.15625, 1e-14);
  CHECK_NEAR(nadeau_bengio(mu, 80, 20, 0.2), (0.2 + 0.25) * 0.15625, 1e-14);
  CHECK_NEAR(conservative_variance(mu, mu.array() + 0.1), 0.005, 1e-14);
}

TEST("splits and designs that give no answer are refused") {
  Monitor monitor;
  Rng rng(6);
  const MatrixXd x = normals(rng, 10, 3);
  const VectorXd y = rng.normals(10);
  const auto run = [&](TestSets splits, const MatrixXd& design) {
    CvLinearOptions options;
    options.splits = std::move(splits);
    return cv_linear(design, y, options, monitor);
  };
  CHECK_THROWS(run({{0, 1, 2, 3, 4, 5, 6}}, x), InputError);  // three rows for four coefficients
  CHECK_THROWS(run({{0, 0}}, x), InputError);
  CHECK_THROWS(run({{10}}, x), InputError);
  CHECK_THROWS(run({{}}, x), InputError);
  CHECK_THROWS(run({}, x), InputError);
  CHECK_THROWS(run({{0, 1}}, normals(rng, 10, 12)), InputError);
  MatrixXd twice = x;
  twice.col(1) = 2 * x.col(0);
  CHECK_THROWS(run({{0, 1}}, twice), InputError);
  MatrixXd marker = x;  // a column that is constant but for row 4
  marker.col(2).setZero();
  marker(4, 2) = 1;
  CHECK_THROWS(run({{0}, {4}}, marker), InputError);
}

TEST("scale: the variance goes with the fourth power of y, and a shift does nothing") {
  Monitor monitor;
  Rng rng(7);
  const MatrixXd x = normals(rng, 20, 2);
  const VectorXd y = rng.normals(20);
  CvLinearOptions options;
  options.splits = partition(20, 5);
  const double base = cv_linear(x, y, options, monitor).variance.exact;
  for (const double scale : {1e-8, 1e8})
    CHECK_NEAR(cv_linear(scale * x, scale * y, options, monitor).variance.exact / std::pow(scale, 4) / base, 1, 1e-8);
  CHECK_NEAR(cv_linear(x, y.array() + 5, options, monitor).variance.exact / base, 1, 1e-10);
}
