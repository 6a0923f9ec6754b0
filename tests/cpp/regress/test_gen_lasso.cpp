// Generalized lasso: optimality conditions worked out here for all kinds of penalties, agreement of routes, the certificate,
// scales, bad input.
#include <limits>

#include "core/base/errors.h"
#include "core/prox/proximal.h"
#include "core/random/rng.h"
#include "regress/gen_lasso.h"
#include "harness.h"

using namespace granary;
using namespace granary::regress;

namespace {

MatrixXd normals(Index n, Index p, Rng& rng) {
  MatrixXd x(n, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < n; ++i) x(i, j) = rng.normal();
  }
  return x;
}

GenPenalty::Rows differences(Index p, int order) {
  MatrixXd r = MatrixXd::Identity(p, p);
  for (int k = 0; k < order; ++k) r = (r.bottomRows(r.rows() - 1) - r.topRows(r.rows() - 1)).eval();
  return GenPenalty::Rows(r.sparseView());
}

GenLoss gaussian(const VectorXd& y) {
  GenLoss loss;
  loss.y = y;
  return loss;
}

}  // namespace

TEST("generalized lasso: the penalty step is optimal for every kind of penalty") {
  Rng rng(1);
  Monitor monitor;
  const Index p = 12;
  std::vector<GenPenalty> penalties;
  penalties.emplace_back(differences(p, 1), std::vector<int>());
  penalties.emplace_back(differences(p, 2), std::vector<int>());
  penalties.emplace_back(differences(p, 3), std::vector<int>());
  penalties.emplace_back(GenPenalty::Rows(MatrixXd(MatrixXd::Identity(p, p)).sparseView()), std::vector<int>());
  penalties.emplace_back(GenPenalty::Rows(normals(20, p, rng).sparseView()), std::vector<int>());
  penalties.emplace_back(GenPenalty::Rows(normals(12, p, rng).sparseView()), std::vector<int>{2, 3, 1, 4, 2});
  for (GenPenalty& penalty : penalties) {
    for (int round = 0; round < 5; ++round) {
      const VectorXd z = 2 * normals(p, 1, rng).col(0);
      const VectorXd d = normals(p, 1, rng).col(0).array().square() + 0.2;
      const double lambda = 0.1 + 0.3 * round;
      VectorXd b, mu;
      const double gap = penalty.prox(z, d, lambda, 1e-11, true, monitor, b, mu);
      CHECK(gap <= 1e-10);
      CHECK(penalty.dual_norm(mu) <= lambda * (1 + 1e-10));
      CHECK((d.cwiseProduct(z - b) - penalty.transpose(mu)).cwiseAbs().maxCoeff() < 1e-10);
      CHECK_NEAR(mu.dot(penalty.matrix() * b), lambda * penalty.value(b), 1e-9);
    }
  }
}

TEST("generalized lasso: sparse chains, with and without the dual, agree") {
  Rng rng(2);
  Monitor monitor;
  const Index p = 30;
  MatrixXd r(2 * p - 1, p);
  r << MatrixXd(differences(p, 1)), 0.4 * MatrixXd::Identity(p, p);
  GenPenalty penalty(GenPenalty::Rows(r.sparseView()), {});
  CHECK(penalty.kind() == GenPenalty::Kind::graph);
  for (int round = 0; round < 10; ++round) {
    const VectorXd z = 2 * normals(p, 1, rng).col(0), d = normals(p, 1, rng).col(0).array().square() + 0.2;
    VectorXd b, c, mu;
    penalty.prox(z, d, 0.7, 0, true, monitor, b, mu);
    CHECK((d.cwiseProduct(z - b) - penalty.transpose(mu)).cwiseAbs().maxCoeff() < 1e-10);
    penalty.prox(z, d, 0.7, 0, false, monitor, c, mu);
    CHECK((b - c).cwiseAbs().maxCoeff() < 1e-10);
  }
}

TEST("generalized lasso: designs agree with their dense matrices") {
  Rng rng(3);
  VectorXd means, out, back;
  const MatrixXd x = normals(9, 5, rng);
  SparseMatrix s = x.sparseView();
  std::vector<std::unique_ptr<GenDesign>> designs;
  designs.push_back(sparse_design(s));
  designs.push_back(identity_design(7));
  designs.push_back(blur_design(4, 5, 3));
  designs.push_back(centred_design(dense_design(x), true, means));
  designs.push_back(centred_design(sparse_design(s), false, means));
  for (const auto& design : designs) {
    MatrixXd dense(design->rows(), design->cols());
    for (Index j = 0; j < design->cols(); ++j) {
      design->apply(VectorXd::Unit(design->cols(), j), out);
      dense.col(j) = out;
    }
    const VectorXd r = normals(design->rows(), 1, rng).col(0);
    design->transpose(r, back);
    CHECK((back - dense.transpose() * r).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((design->squares() - dense.colwise().squaredNorm().transpose()).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((design->dense() - dense).cwiseAbs().maxCoeff() < 1e-12);
  }
  // The blur of a constant image is constant.
  designs[2]->apply(VectorXd::Constant(20, 3), out);
  CHECK((out.array() - 3).abs().maxCoeff() < 1e-14);
}

TEST("generalized lasso: paths are optimal, certified and monotone, also with more columns than rows") {
  Rng rng(4);
  Monitor monitor;
  for (const Index p : {8, 40}) {
    const MatrixXd x = normals(20, p, rng);
    const VectorXd y = x.col(0) - 2 * x.col(1) + 0.3 * normals(20, 1, rng).col(0);
    for (const double scale : {1e-6, 1.0, 1e6}) {
      for (const int order : {1, 2}) {
        GenPenalty penalty(differences(p, order), {});
        const MatrixXd scaled = scale * x;
        const auto design = dense_design(scaled);
        const GenLoss loss = gaussian(y);
        const GenLassoPath top = gen_lasso_limits(*design, loss, penalty, monitor);
        CHECK(top.lambda_max_exact);
        GenLassoOptions options;
        options.tol = order == 1 ? 1e-9 : 1e-6;
        const GenLassoPath path = gen_lasso_path(
            *design, loss, penalty, {1.001 * top.lambda_max, 0.3 * top.lambda_max, 0.05 * top.lambda_max}, options, monitor);
        CHECK(penalty.value(path.fits[0].b) * top.lambda_max < 1e-5 * y.squaredNorm());
        for (const GenLassoFit& fit : path.fits) {
          CHECK(fit.convergence.converged);
          CHECK(fit.convergence.gap <= 1.01 * options.tol * 0.5 * y.squaredNorm());
          for (std::size_t k = 1; k < fit.trace.size(); ++k) CHECK(fit.trace[k] <= fit.trace[k - 1] * (1 + 1e-12));
        }
        CHECK(path.fits[2].objective < path.fits[1].objective);
      }
    }
  }
}

TEST("generalized lasso refuses penalties that do not fit") {
  Monitor monitor;
  CHECK_THROWS(GenPenalty(differences(4, 1), {2, 2}), InputError);
  CHECK_THROWS(GenPenalty(differences(4, 1), {3, 0}), InputError);
  GenPenalty penalty(differences(4, 1), {});
  const MatrixXd x = MatrixXd::Ones(3, 5);
  CHECK_THROWS(gen_lasso_limits(*dense_design(x), gaussian(VectorXd::Ones(3)), penalty, monitor), InputError);
}

TEST("generalized lasso: the largest penalty of chains of any order is that of cumulated sums, and from there on the fit is a polynomial") {
  Monitor monitor;
  Rng rng(8);
  const Index n = 400;
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) y[i] = std::sin(6.0 * static_cast<double>(i) / n) + 0.3 * rng.normal();
  for (int order = 2; order <= 3; ++order) {
    // differences of this order, and the polynomials they do not see
    std::vector<double> coefficient{-1, 1};
    for (int k = 1; k < order; ++k) {
      std::vector<double> next(coefficient.size() + 1, 0);
      for (std::size_t j = 0; j < coefficient.size(); ++j) {
        next[j] -= coefficient[j];
        next[j + 1] += coefficient[j];
      }
      coefficient = next;
    }
    GenPenalty::Rows r(n - order, n);
    for (Index i = 0; i < n - order; ++i)
      for (std::size_t j = 0; j < coefficient.size(); ++j) r.insert(i, i + static_cast<Index>(j)) = coefficient[j];
    MatrixXd null(n, order);
    for (Index i = 0; i < n; ++i)
      for (int k = 0; k < order; ++k) null(i, k) = std::pow(2.0 * static_cast<double>(i) / n - 1, k);
    GenPenalty penalty(r, {}, null);
    GenLoss loss;
    loss.y = y;
    const auto design = identity_design(n);
    const GenLassoPath top = gen_lasso_limits(*design, loss, penalty, monitor);
    GenLassoOptions options;
    const GenLassoPath path = gen_lasso_path(*design, loss, penalty, {1.01 * top.lambda_max}, options, monitor);
    VectorXd sums = y - path.fits[0].b;
    for (int k = 0; k < order; ++k)
      for (Index i = 1; i < n; ++i) sums[i] += sums[i - 1];
    CHECK(top.lambda_max_exact);
    CHECK_NEAR(top.lambda_max / sums.head(n - order).cwiseAbs().maxCoeff(), 1.0, 1e-6);
    CHECK(path.fits[0].convergence.converged);
    CHECK_NEAR(path.fits[0].df, static_cast<double>(order), 1e-12);
  }
}
