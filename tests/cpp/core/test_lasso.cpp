#include "eigen.h"
#include <cstdint>
#include <limits>

#include "core/optim/l1_quadratic.h"
#include "core/optim/lasso.h"
#include "harness.h"

using namespace granary;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

struct Draw {
  std::uint64_t state;
  double uniform() {  // (0, 1)
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
  }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
  MatrixXd matrix(Index n, Index p) {
    MatrixXd x(n, p);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = normal();
    return x;
  }
};

struct Data {
  MatrixXd x;
  VectorXd y, eta;
};

Data make_data(Index n, Index p, std::uint64_t seed, bool logistic = false) {
  Draw draw{seed};
  Data d;
  d.x = draw.matrix(n, p);
  const VectorXd common = draw.matrix(n, 1);
  for (Index j = 0; j < p; ++j)
    d.x.col(j) = (d.x.col(j) + 0.7 * common).array() * (1 + static_cast<double>(j % 4)) + static_cast<double>(j % 3);
  d.eta = VectorXd::Zero(n);
  for (Index j = 0; j < std::min<Index>(p, 5); ++j)
    d.eta += (j % 2 ? -0.5 : 0.7) * (d.x.col(j).array() - static_cast<double>(j % 3)).matrix();
  d.y.resize(n);
  for (Index i = 0; i < n; ++i)
    d.y[i] = logistic ? (draw.uniform() < 1 / (1 + std::exp(-d.eta[i])) ? 1.0 : 0.0) : 3 + d.eta[i] + draw.normal();
  return d;
}

// The documented objective, from its definition; also the largest violation of its optimality conditions, relative to the
// spread of y, with b the coefficients on the original scale.
struct Reference {
  double objective = 0, violation = 0;
};

Reference reference(const Data& d, const LassoOptions& o, double lambda, double b0, const VectorXd& b, bool logistic) {
  const Index n = d.x.rows(), p = d.x.cols();
  VectorXd w = o.weights.size() ? o.weights : VectorXd::Ones(n);
  w /= w.sum();
  VectorXd eta = (d.x * b).array() + b0;
  if (o.offset.size()) eta += o.offset;
  Reference out;
  VectorXd r(n);
  for (Index i = 0; i < n; ++i) {
    r[i] = logistic ? d.y[i] - 1 / (1 + std::exp(-eta[i])) : d.y[i] - eta[i];
    out.objective += w[i] * (logistic ? std::log1p(std::exp(eta[i])) - d.y[i] * eta[i] : 0.5 * r[i] * r[i]);
  }
  // A violation counts relative to the spread of y, about its mean when there is an intercept.
  VectorXd target = d.y;
  if (o.offset.size()) target -= o.offset;
  if (o.intercept) target.array() -= w.dot(target);
  const double y_unit = logistic ? 1 : std::sqrt(w.dot(target.cwiseAbs2()));
  if (o.intercept) out.violation = std::abs(w.dot(r)) / y_unit;
  for (Index j = 0; j < p; ++j) {
    const double mean = w.dot(d.x.col(j));
    const double sd = std::sqrt((w.array() * (d.x.col(j).array() - mean).square()).sum());
    const double scale = o.standardize && sd > 0 ? sd : 1;
    const double f = o.penalty_factor.size() ? o.penalty_factor[j] : 1;
    if (f == infinity) {
      if (b[j] != 0) out.violation = infinity;
      continue;
    }
    const double c = b[j] * scale;
    const double g = (w.array() * d.x.col(j).array() * r.array()).sum() / scale;
    out.objective += lambda * f * (o.alpha * std::abs(c) + 0.5 * (1 - o.alpha) * c * c);
    const double l1 = lambda * f * o.alpha;
    double v = c == 0 ? std::max(std::abs(g) - l1, 0.0) : std::abs(g - lambda * f * (1 - o.alpha) * c - (c > 0 ? l1 : -l1));
    if (o.upper.size() && b[j] >= o.upper[j] * (1 - 1e-12) && g >= 0) v = 0;  // pressed against its bound
    if (o.lower.size() && b[j] <= o.lower[j] * (1 - 1e-12) && g <= 0) v = 0;
    const double second = o.intercept ? sd : std::sqrt(sd * sd + mean * mean);
    out.violation = std::max(out.violation, v / (second / scale * y_unit));
  }
  return out;
}

void check_path(const Data& d, const LassoOptions& o, const LassoPath& path, bool logistic) {
  CHECK(path.convergence.converged);
  for (Index k = 0; k < path.lambda.size(); k += 7) {
    const VectorXd b = path.coefficients.col(k);
    const Reference ref = reference(d, o, path.lambda[k], path.intercept[k], b, logistic);
    CHECK_NEAR(ref.objective, path.objective[k], 1e-9 * ref.objective);
    CHECK_NEAR(ref.violation, 0.0, 1.001 * o.tol);
    CHECK(path.residual[k] <= o.tol);
    CHECK((b.array() != 0).count() == path.df[k]);
    if (!std::isnan(path.gap[k])) CHECK(path.gap[k] >= 0 && path.gap[k] <= 1e-4 * path.objective[0]);
  }
}

SparseMatrix sparse_design(Index n, Index p, std::uint64_t seed) {
  Draw draw{seed};
  std::vector<Eigen::Triplet<double>> entries;
  for (Index j = 0; j < p; ++j)
    for (Index i = 0; i < n; ++i)
      if (draw.uniform() < 0.1) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), 1 + draw.normal());
  SparseMatrix x(n, p);
  x.setFromTriplets(entries.begin(), entries.end());
  return x;
}

}  // namespace

TEST("lasso paths satisfy the documented objective's optimality conditions, in every mode") {
  Monitor monitor;
  for (const bool wide : {false, true}) {
    const Data d = wide ? make_data(30, 80, 2) : make_data(90, 25, 1);
    Draw draw{5};
    for (const auto update : {LassoUpdate::automatic, LassoUpdate::covariance, LassoUpdate::naive}) {
      for (int variant = 0; variant < 6; ++variant) {
        LassoOptions o;
        o.update = update;
        o.n_lambda = 40;
        if (wide) o.lambda_min_ratio = 0.05;
        if (variant == 1) o.alpha = 0.4;
        if (variant == 2) o.standardize = false;
        if (variant == 3) o.intercept = false;
        if (variant == 4) {
          o.weights = draw.matrix(d.x.rows(), 1).cwiseAbs();
          o.offset = draw.matrix(d.x.rows(), 1);
          o.penalty_factor = VectorXd::Ones(d.x.cols());
          o.penalty_factor[0] = 0;
          o.penalty_factor[1] = infinity;
          o.penalty_factor[2] = 2.5;
        }
        if (variant == 5) {
          o.lower = VectorXd::Constant(d.x.cols(), -0.1);
          o.upper = VectorXd::Constant(d.x.cols(), 0.3);
          o.lower[1] = 0;
        }
        const LassoPath path = lasso(d.x, d.y, o, monitor);
        CHECK(path.lambda.size() > 5);
        check_path(d, o, path, false);
        if (variant == 0) CHECK(path.df[0] == 0 && path.df[1] >= 1);
        if (variant == 5) {
          const MatrixXd b = path.coefficients;
          CHECK(b.maxCoeff() <= 0.3 + 1e-15 && b.minCoeff() >= -0.1 - 1e-15 && b.row(1).minCoeff() >= 0);
          CHECK((b.array() > 0.3 - 1e-15).any());
        }
      }
    }
  }
}

TEST("columns that are not looked at satisfy the optimality conditions too, at every penalty") {
  Monitor monitor;
  for (const Index p : {400, 3000}) {
    const Data d = make_data(50, p, 21);
    const Data sparse = [&] {
      Data out = d;
      out.x = MatrixXd(sparse_design(50, p, 22));
      return out;
    }();
    for (const auto update : {LassoUpdate::automatic, LassoUpdate::naive}) {
      for (const bool plain : {true, false}) {
        LassoOptions o;
        o.update = update;
        o.n_lambda = 60;
        o.lambda_min_ratio = 0.005;
        if (!plain) {
          o.alpha = 0.7;
          o.standardize = false;
          Draw draw{6};
          o.weights = draw.matrix(50, 1).cwiseAbs();
        }
        check_path(d, o, lasso(d.x, d.y, o, monitor), false);
        check_path(sparse, o, lasso(SparseMatrix(sparse.x.sparseView()), sparse.y, o, monitor), false);
      }
    }
  }
}

TEST("the lasso has the closed forms of orthogonal designs, ridge and least squares") {
  Monitor monitor;
  LassoOptions o;
  o.standardize = o.intercept = false;
  o.lambda = VectorXd::Constant(1, 0.2);
  MatrixXd x = MatrixXd::Identity(4, 4) * 2;  // X'X/n = I
  VectorXd y(4);
  y << 1, -0.3, 0.5, 2;
  const VectorXd b = lasso(x, y, o, monitor).coefficients.col(0);  // soft(y/2, 0.2)
  CHECK_NEAR(b[0], 0.3, 1e-12);
  CHECK(b[1] == 0);
  CHECK_NEAR(b[2], 0.05, 1e-12);
  CHECK_NEAR(b[3], 0.8, 1e-12);

  const Data d = make_data(60, 10, 3);
  o = LassoOptions();
  o.standardize = false;
  o.alpha = 0;
  o.tol = 1e-9;
  o.lambda = VectorXd::Constant(1, 0.7);
  const MatrixXd centred = d.x.rowwise() - d.x.colwise().mean();
  const MatrixXd gram = centred.transpose() * centred / 60;
  const VectorXd right = centred.transpose() * d.y / 60;
  const VectorXd ridge = (gram + 0.7 * MatrixXd::Identity(10, 10)).llt().solve(right);
  auto path = lasso(d.x, d.y, o, monitor);
  CHECK_NEAR((VectorXd(path.coefficients.col(0)) - ridge).norm(), 0.0, 1e-7);
  CHECK_NEAR(path.intercept[0], d.y.mean() - d.x.colwise().mean().dot(ridge), 1e-7);
  o.lambda[0] = 0;
  path = lasso(d.x, d.y, o, monitor);
  CHECK_NEAR((VectorXd(path.coefficients.col(0)) - VectorXd(gram.llt().solve(right))).norm(), 0.0, 1e-7);
  CHECK_NEAR(path.null_deviance, (d.y.array() - d.y.mean()).square().sum(), 1e-9 * path.null_deviance);

  o.alpha = 1;  // the same problem in Gram form
  o.lambda[0] = 0.3;
  path = lasso(d.x, d.y, o, monitor);
  const auto quadratic = l1_quadratic(gram, right, VectorXd::Constant(10, 0.3), L1QuadraticOptions(), monitor);
  CHECK_NEAR((VectorXd(path.coefficients.col(0)) - quadratic.v).norm(), 0.0, 1e-7);
}

TEST("logistic paths satisfy the documented objective's optimality conditions") {
  Monitor monitor;
  for (const bool wide : {false, true}) {
    Data d = wide ? make_data(40, 90, 12, true) : make_data(120, 15, 11, true);
    Draw draw{6};
    for (int variant = 0; variant < 6; ++variant) {
      LassoOptions o;
      o.n_lambda = 30;
      o.lambda_min_ratio = wide ? 0.1 : 0.001;
      if (variant == 1) o.alpha = 0.3;
      if (variant == 2) o.standardize = false;
      if (variant == 3) o.intercept = false;
      if (variant == 4) {
        o.weights = draw.matrix(d.x.rows(), 1).cwiseAbs();
        o.offset = draw.matrix(d.x.rows(), 1);
        o.penalty_factor = VectorXd::Ones(d.x.cols());
        o.penalty_factor[0] = 0;
        o.penalty_factor[1] = infinity;
      }
      if (variant == 5) {
        o.lower = VectorXd::Constant(d.x.cols(), -0.05);
        o.upper = VectorXd::Constant(d.x.cols(), 0.2);
      }
      const LassoPath path = lasso_logistic(d.x, d.y, o, monitor);
      CHECK(path.lambda.size() > 5);
      check_path(d, o, path, true);
      for (Index k = 1; k < path.dev_ratio.size(); ++k) CHECK(path.dev_ratio[k] >= path.dev_ratio[k - 1] - 1e-6);
    }
    d.y = (d.y.array() * 0.6 + 0.2).matrix();  // proportions
    LassoOptions o;
    o.n_lambda = 10;
    o.lambda_min_ratio = 0.2;
    check_path(d, o, lasso_logistic(d.x, d.y, o, monitor), true);
  }
}

TEST("separated classes end the logistic path with a reason") {
  Monitor monitor;
  Data d = make_data(50, 5, 21, true);
  for (Index i = 0; i < 50; ++i) d.y[i] = d.x(i, 0) > d.x.col(0).mean() ? 1 : 0;
  LassoOptions o;
  o.lambda_min_ratio = 1e-8;
  const auto path = lasso_logistic(d.x, d.y, o, monitor);
  CHECK(path.lambda.size() < 100);
  CHECK(path.dev_ratio[path.dev_ratio.size() - 1] > 0.99);
  CHECK(!path.convergence.message.empty());
  CHECK(path.coefficients.coeffs().allFinite());
  o.lambda = VectorXd::Zero(1);  // no finite minimiser: must come back all the same
  CHECK(lasso_logistic(d.x, d.y, o, monitor).dev_ratio[0] > 0.999);
}

TEST("sparse designs give the dense answer") {
  Monitor monitor;
  const SparseMatrix x = sparse_design(150, 60, 31);
  const MatrixXd dense = x;
  Draw draw{32};
  VectorXd y = 2 * dense.col(0) - dense.col(3) + draw.matrix(150, 1);
  VectorXd classes = (y.array() > 0.2).cast<double>();
  for (Index i = 0; i < 150; i += 9) classes[i] = 1 - classes[i];
  for (int variant = 0; variant < 4; ++variant) {
    LassoOptions o;
    o.tol = 1e-10;
    o.n_lambda = 30;
    o.lambda_min_ratio = 0.01;
    o.intercept = variant != 1;
    o.standardize = variant != 2;
    if (variant == 3) o.weights = draw.matrix(150, 1).cwiseAbs();
    const auto a = lasso_logistic(dense, classes, o, monitor), b = lasso_logistic(x, classes, o, monitor);
    CHECK(a.convergence.converged && b.convergence.converged);
    CHECK_NEAR((a.intercept - b.intercept).norm(), 0.0, 1e-6);
    CHECK_NEAR((a.coefficients - b.coefficients).norm(), 0.0, 1e-6);
    for (const auto update : {LassoUpdate::automatic, LassoUpdate::covariance, LassoUpdate::naive}) {
      o.update = update;
      const auto c = lasso(dense, y, o, monitor), e = lasso(x, y, o, monitor);
      CHECK(c.lambda.size() == e.lambda.size());
      CHECK_NEAR((c.intercept - e.intercept).norm(), 0.0, 1e-6);
      CHECK_NEAR((c.coefficients - e.coefficients).norm(), 0.0, 1e-6);
      CHECK_NEAR((c.objective - e.objective).norm(), 0.0, 1e-9);
    }
  }
}

TEST("the lasso is equivariant to units, and ignores constant columns") {
  Monitor monitor;
  const Data d = make_data(80, 20, 41);
  LassoOptions o;
  o.n_lambda = 20;
  const auto base = lasso(d.x, d.y, o, monitor);
  const VectorXd mid = base.coefficients.col(10);
  for (const double c : {1e-8, 1e8}) {
    const auto y_scaled = lasso(d.x, c * d.y, o, monitor);
    CHECK(y_scaled.convergence.converged);
    CHECK_NEAR((VectorXd(y_scaled.coefficients.col(10)) / c - mid).norm(), 0.0, 1e-6 * mid.norm());
    const auto x_scaled = lasso(c * d.x, d.y, o, monitor);
    CHECK_NEAR((VectorXd(x_scaled.coefficients.col(10)) * c - mid).norm(), 0.0, 1e-6 * mid.norm());
    CHECK_NEAR(x_scaled.lambda[10], base.lambda[10], 1e-10 * base.lambda[10]);
  }
  MatrixXd shifted = d.x.array() + 1e6;
  shifted.col(7).setConstant(1e6 / 3);
  const auto moved = lasso(shifted, d.y, o, monitor);
  CHECK(moved.convergence.converged);
  CHECK(VectorXd(moved.coefficients.col(moved.lambda.size() - 1))[7] == 0);
  const auto flat = lasso(d.x, VectorXd::Constant(80, 2.5), o, monitor);
  CHECK_NEAR(flat.intercept[0], 2.5, 1e-12);
  CHECK(flat.coefficients.nonZeros() == 0);
}

TEST("the lasso says what is wrong with its input") {
  Monitor monitor;
  const Data d = make_data(20, 3, 51, true);
  LassoOptions o;
  CHECK_THROWS(lasso(d.x, VectorXd::Ones(19), o, monitor), InputError);
  CHECK_THROWS(lasso(d.x, VectorXd::Constant(20, std::nan("")), o, monitor), InputError);
  CHECK_THROWS(lasso_logistic(d.x, VectorXd::Constant(20, 2.0), o, monitor), InputError);
  CHECK_THROWS(lasso_logistic(d.x, VectorXd::Ones(20), o, monitor), InputError);
  MatrixXd bad = d.x;
  bad(3, 1) = infinity;
  CHECK_THROWS(lasso(bad, d.y, o, monitor), InputError);
  o.alpha = 1.5;
  CHECK_THROWS(lasso(d.x, d.y, o, monitor), InputError);
  o = LassoOptions();
  o.weights = VectorXd::Constant(20, -1.0);
  CHECK_THROWS(lasso(d.x, d.y, o, monitor), InputError);
  o = LassoOptions();
  o.lower = VectorXd::Constant(3, 0.5);
  CHECK_THROWS(lasso(d.x, d.y, o, monitor), InputError);
  o = LassoOptions();
  o.lambda = VectorXd::Constant(1, -1.0);
  CHECK_THROWS(lasso(d.x, d.y, o, monitor), InputError);
}
