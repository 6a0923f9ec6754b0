#include "regress/debiased_baseline.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"
#include "core/math/special.h"
#include "core/optim/lasso.h"

namespace granary::regress {
namespace {

DebiasedResult by_nodewise(const DebiasedStart& start, const std::vector<int>& which, const BaselineOptions& options, Monitor& monitor) {
  const MatrixXd& x = start.design.x;
  if (x.cols() == 1) throw InputError("Nodewise regression needs at least two columns.");
  const double lambda =
      options.lambda_nodes ? *options.lambda_nodes : std::sqrt(std::log(static_cast<double>(x.cols())) / static_cast<double>(x.rows()));
  DecorrelateOptions solver;
  solver.max_iter = 100000;
  solver.threads = options.threads;
  Decorrelation found = nodewise(x, which, lambda, solver, monitor);
  Decorrelation rows = given_rows(x, which, std::move(found.rows));
  rows.convergence = found.convergence;
  return debias(start, which, std::move(rows), options.alpha);
}

DebiasedResult by_least_squares(DebiasedStart start, const std::vector<int>& which, const BaselineOptions& options) {
  const MatrixXd& x = start.design.x;
  const Index n = x.rows(), p = x.cols(), df = n - p - options.intercept;
  const PivotedQr qr(x);
  if (df < 1 || qr.rank() < p)
    throw InputError(message("Least squares needs more rows than columns, and no column that depends on the others; there are ", n,
                             " rows, and the ", p, " columns have rank ", qr.rank(), "."));
  const MatrixXd q = qr.thin_q();
  MatrixXd back = MatrixXd::Identity(p, p);  // R'^-1
  qr.matrixQR().topRows(p).triangularView<Eigen::Upper>().transpose().solveInPlace(back);
  const MatrixXd pivoted = static_cast<double>(n) * q * back;  // X S^-1, columns as pivoted
  std::vector<Index> place(static_cast<std::size_t>(p));
  for (Index k = 0; k < p; ++k) place[static_cast<std::size_t>(qr.pivots()[k])] = k;
  MatrixXd rows(n, static_cast<Index>(which.size()));
  for (std::size_t k = 0; k < which.size(); ++k) rows.col(static_cast<Index>(k)) = pivoted.col(place[static_cast<std::size_t>(which[k])]);
  if (start.sigma_estimated) {
    const VectorXd residual = start.response - q * (q.transpose() * start.response).eval();
    start.sigma = std::sqrt(residual.squaredNorm() / static_cast<double>(df));
  }
  return debias(start, which, given_rows(x, which, std::move(rows)), options.alpha);
}

DebiasedResult by_ridge(const DebiasedStart& start, const std::vector<int>& which) {
  const double xi = 0.05;
  const MatrixXd& x = start.design.x;
  const Index p = x.cols(), count = static_cast<Index>(which.size());
  const double n = static_cast<double>(x.rows()), root = std::sqrt(n);
  if (p == 1) throw InputError("The ridge projection needs at least two columns.");
  const Svd svd(x / root, SvdParts::thin);
  const VectorXd& d = svd.singularValues();
  Index rank = 0;
  while (rank < d.size() && d[rank] > 1e-10 * d[0]) ++rank;
  const auto u = svd.matrixU().leftCols(rank);
  const auto v = svd.matrixV().leftCols(rank);
  const VectorXd shrunk = d.head(rank).array() / (d.head(rank).array().square() + 1 / n);
  const VectorXd ridge = v * shrunk.cwiseProduct(u.transpose() * (start.response / root));

  DebiasedResult result = debiased_shell(start, which);
  result.coefficients.resize(count);
  result.se.resize(count);
  result.p_value.resize(count);
  result.delta.resize(count);
  MatrixXd rows(x.rows(), count);
  for (Index k = 0; k < count; ++k) {
    const int i = which[static_cast<std::size_t>(k)];
    VectorXd others = v * v.row(i).transpose();  // the projector on the row space, its row i
    const double own = others[i], scale = start.design.scale[i];
    others[i] = 0;
    const double estimate = (ridge[i] - others.dot(start.theta)) / own;
    rows.col(k) = root * (u * shrunk.cwiseProduct(v.row(i).transpose() / own));
    const double se = start.sigma * std::sqrt(rows.col(k).squaredNorm() / n / n);
    const double delta =
        start.sigma * (others.cwiseAbs().maxCoeff() / std::abs(own)) * std::pow(std::log(static_cast<double>(p)) / n, 0.5 - xi);
    result.coefficients[k] = estimate / scale;
    result.se[k] = se / scale;
    result.delta[k] = delta / scale;
    result.p_value[k] = std::min(1.0, 2 * normal_cdf(-std::max(std::abs(estimate) - delta, 0.0) / se));
  }
  result.rows = given_rows(x, which, std::move(rows));
  return result;
}

double two_sided_t(double t, double df) { return beta_p(df / 2, 0.5, df / (df + t * t)); }

// p-values of one split, 1 for columns that were not chosen.
VectorXd one_split(const MatrixXd& x, const VectorXd& y, Rng rng, Monitor& monitor) {
  const Index n = x.rows(), p = x.cols(), half = n / 2, rest = n - half;
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index k = 0; k < half; ++k) std::swap(order[k], order[k + static_cast<Index>(rng.uniform() * static_cast<double>(n - k))]);
  MatrixXd first(half, p), second(rest, p);
  VectorXd y_first(half), y_second(rest);
  for (Index k = 0; k < n; ++k) {
    (k < half ? first.row(k) : second.row(k - half)) = x.row(order[k]);
    (k < half ? y_first[k] : y_second[k - half]) = y[order[k]];
  }
  LassoOptions options;
  options.n_lambda = 50;
  options.tol = 1e-5;
  options.max_iter = 10000;
  const LassoPath path = lasso(ConstMatrixRef(first), y_first, options, monitor);
  VectorXd out = VectorXd::Ones(p);
  // The last model on the path that least squares on the other half can test.
  Index last = -1;
  for (Index k = 0; k < path.df.size(); ++k)
    if (path.df[k] <= rest / 3) last = k;
  std::vector<Index> chosen;
  if (last >= 0)
    for (SparseMatrix::InnerIterator it(path.coefficients, last); it; ++it)
      if (it.value() != 0) chosen.push_back(it.row());
  if (chosen.empty()) return out;
  MatrixXd design(rest, static_cast<Index>(chosen.size()) + 1);
  design.col(0).setOnes();
  for (std::size_t k = 0; k < chosen.size(); ++k) design.col(static_cast<Index>(k) + 1) = second.col(chosen[k]);
  const PivotedQr qr(design);
  const Index rank = qr.rank(), df = rest - rank;
  if (df < 1) return out;
  const MatrixXd q = qr.thin_q();
  const VectorXd fitted = q.transpose() * y_second;
  const double variance = (y_second - q * fitted).squaredNorm() / static_cast<double>(df);
  MatrixXd inverse = MatrixXd::Identity(rank, rank);
  const auto r = qr.matrixQR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>();
  r.solveInPlace(inverse);
  const VectorXd b = inverse * fitted;
  for (Index k = 0; k < rank; ++k) {
    if (qr.pivots()[k] == 0) continue;  // the intercept
    const double t = b[k] / std::sqrt(variance * inverse.row(k).squaredNorm());
    out[chosen[static_cast<std::size_t>(qr.pivots()[k] - 1)]] =
        std::min(1.0, two_sided_t(t, static_cast<double>(df)) * static_cast<double>(chosen.size()));
  }
  return out;
}

// Quantiles of the p-values over gamma, and the price of looking at all gamma >= 0.05.
double joined(std::vector<double> p) {
  std::sort(p.begin(), p.end());
  const double count = static_cast<double>(p.size());
  double best = 1e300;
  for (int k = 5; k <= 100; ++k) {
    const double gamma = k / 100.0;
    const auto at = static_cast<std::size_t>(std::max(0.0, std::ceil(count * gamma - 1e-9) - 1));
    best = std::min(best, p[at] / gamma);
  }
  return std::min(1.0, best * (1 - std::log(0.05)));
}

DebiasedResult by_splits(const DebiasedStart& start, const std::vector<int>& which, const BaselineOptions& options, const Rng& rng,
                         Monitor& monitor) {
  const MatrixXd& x = start.design.x;
  if (x.rows() / 2 < 3) throw InputError("Sample splitting needs at least six rows.");
  MatrixXd p_values(x.cols(), options.splits);
  std::atomic<int> done{0};
  parallel_for(options.splits, options.threads, monitor, [&](Index k) {
    p_values.col(k) = one_split(x, start.response, rng.stream(static_cast<std::uint64_t>(k)), monitor);
    monitor.progress(static_cast<double>(++done) / options.splits);
  });
  DebiasedResult result = debiased_shell(start, which);
  const Index count = static_cast<Index>(which.size());
  result.coefficients.resize(count);
  result.p_value.resize(count);
  result.se = VectorXd::Constant(count, Convergence::unknown);
  for (Index k = 0; k < count; ++k) {
    const int i = which[static_cast<std::size_t>(k)];
    result.coefficients[k] = result.lasso[i];
    const VectorXd own = p_values.row(i);
    result.p_value[k] = joined(std::vector<double>(own.data(), own.data() + own.size()));
  }
  result.rows.convergence.converged = true;
  result.rows.convergence.iterations = options.splits;
  return result;
}

}  // namespace

DebiasedResult debiased_baseline(const DebiasedData& data, const BaselineOptions& options, const Rng& rng, Monitor& monitor) {
  DebiasedOptions first;
  first.lambda = options.lambda;
  first.sigma = options.sigma;
  first.lambda0 = options.lambda0;
  first.standardize = options.standardize;
  first.intercept = options.intercept;
  const DebiasedStart start = debiased_start(data, first, monitor);
  const std::vector<int> which = kept_places(start.design, data.which, data.x.cols());
  switch (options.method) {
    case DebiasedMethod::nodewise:
      return by_nodewise(start, which, options, monitor);
    case DebiasedMethod::ridge:
      return by_ridge(start, which);
    case DebiasedMethod::split:
      return by_splits(start, which, options, rng, monitor);
    case DebiasedMethod::ols:
      break;
  }
  return by_least_squares(start, which, options);
}

}  // namespace granary::regress
