#include "eigen.h"
#include <algorithm>
#include <vector>

#include "core/random/rng.h"
#include "graph/newton_direction.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

double soft(double z, double r) { return z > r ? z - r : z < -r ? z + r : 0; }

struct Model {  // one Newton step's data: X > 0 sparse, its inverse, S, and a free set that contains the support of X
  MatrixXd x, w, s, lambda;
  SparseMatrix free;
};

Model draw_model(Index p, bool diagonal_x, Rng& rng) {
  Model m;
  m.x = MatrixXd::Zero(p, p);
  if (!diagonal_x) {
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i < j; ++i) {
        if (rng.bernoulli(0.3)) m.x(i, j) = m.x(j, i) = rng.uniform(-0.5, 0.5);
      }
    }
  }
  for (Index i = 0; i < p; ++i) m.x(i, i) = 0.3 + m.x.row(i).cwiseAbs().sum() + rng.uniform(0, 1);
  m.w = m.x.llt().solve(MatrixXd::Identity(p, p));
  m.w = (0.5 * (m.w + m.w.transpose())).eval();
  MatrixXd z(p, p + 3);
  for (Index k = 0; k < z.size(); ++k) z.data()[k] = rng.normal();
  m.s = z * z.transpose() / static_cast<double>(p + 3);
  m.lambda.resize(p, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i <= j; ++i) m.lambda(i, j) = m.lambda(j, i) = rng.uniform(0.02, 0.4);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < p; ++j) {
    for (int i = 0; i <= j; ++i) {
      if (m.x(i, j) != 0 || rng.bernoulli(0.5)) entries.emplace_back(i, j, m.x(i, j));
    }
  }
  m.free.resize(p, p);
  m.free.setFromTriplets(entries.begin(), entries.end());
  return m;
}

MatrixXd as_symmetric(const SparseMatrix& pattern, const VectorXd& values) {
  MatrixXd d = MatrixXd::Zero(pattern.rows(), pattern.cols());
  Index k = 0;
  for (Index j = 0; j < pattern.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(pattern, j); it; ++it, ++k) d(it.row(), j) = d(j, it.row()) = values[k];
  }
  return d;
}

double model_value(const Model& m, const MatrixXd& d) {
  const MatrixXd wd = m.w * d;
  return ((m.s - m.w) * d).trace() + 0.5 * (wd * wd).trace() + m.lambda.cwiseProduct((m.x + d).cwiseAbs()).sum();
}

// The quadratic model written out over the free coordinates z: g'z + z'Hz/2 + sum_k m_k lambda_k |x_k + z_k|, with
// H_kl = tr(W E_k W E_l) from dense products, and minimised by plain coordinate descent.
VectorXd brute_force(const Model& m) {
  const Index p = m.x.rows();
  std::vector<MatrixXd> basis, product;
  std::vector<double> x, threshold, gradient;
  for (Index j = 0; j < p; ++j) {
    for (SparseMatrix::InnerIterator it(m.free, j); it; ++it) {
      const Index i = it.row();
      MatrixXd e = MatrixXd::Zero(p, p);
      e(i, j) = e(j, i) = 1;
      basis.push_back(e);
      product.push_back(m.w * e * m.w);
      x.push_back(it.value());
      threshold.push_back((i == j ? 1 : 2) * m.lambda(i, j));
      gradient.push_back(((m.s - m.w) * e).trace());
    }
  }
  const Index count = static_cast<Index>(basis.size());
  MatrixXd h(count, count);
  for (Index k = 0; k < count; ++k) {
    for (Index l = 0; l < count; ++l) h(k, l) = product[k].cwiseProduct(basis[l]).sum();
  }
  VectorXd z = VectorXd::Zero(count), hz = VectorXd::Zero(count);
  for (int sweep = 0; sweep < 100000; ++sweep) {
    double moved = 0;
    for (Index k = 0; k < count; ++k) {
      const double c = x[k] + z[k], b = gradient[k] + hz[k], a = h(k, k);
      const double mu = soft(c - b / a, threshold[k] / a) - c;
      z[k] += mu;
      hz += mu * h.col(k);
      moved = std::max(moved, std::abs(mu));
    }
    if (moved < 1e-15) break;
  }
  return z;
}

}  // namespace

TEST("Newton direction minimises the quadratic model, as brute force over the vectorised problem does") {
  Rng rng(1);
  Monitor monitor;
  for (Index p : {1, 2, 3, 7, 8, 9, 12, 17}) {  // panels are eight columns wide
    const Model m = draw_model(p, false, rng);
    const Penalty lambda = Penalty::matrix(m.lambda);
    const ConstMatrixRef s(m.s);
    const VectorXd best = brute_force(m);
    const double least = model_value(m, as_symmetric(m.free, best));

    NewtonDirection forcing(s, lambda, m.w, m.free, monitor);
    CHECK(forcing.solve_to(1e-14) < 1000);
    CHECK_NEAR((forcing.values() - best).cwiseAbs().maxCoeff(), 0, 1e-10);
    CHECK_NEAR(model_value(m, as_symmetric(m.free, forcing.values())), least, 1e-12 * (1 + std::abs(least)));

    NewtonDirection sweeps(s, lambda, m.w, m.free, monitor);
    sweeps.solve_sweeps(3000);
    CHECK_NEAR((sweeps.values() - best).cwiseAbs().maxCoeff(), 0, 1e-10);

    for (Index k = 0; k < best.size(); ++k) {  // zeros of X + D are exact
      const double mine = m.free.valuePtr()[k] + forcing.values()[k];
      if (std::abs(m.free.valuePtr()[k] + best[k]) < 1e-13) CHECK(mine == 0);
    }
  }
}

TEST("Newton direction: every sweep decreases the model, a loose one is not yet there") {
  Rng rng(2);
  Monitor monitor;
  const Model m = draw_model(12, false, rng);
  const Penalty lambda = Penalty::matrix(m.lambda);
  const ConstMatrixRef s(m.s);
  const double least = model_value(m, as_symmetric(m.free, brute_force(m)));
  double last = model_value(m, MatrixXd::Zero(12, 12));
  for (int sweeps = 1; sweeps <= 4; ++sweeps) {
    NewtonDirection direction(s, lambda, m.w, m.free, monitor);
    direction.solve_sweeps(sweeps);
    const double now = model_value(m, as_symmetric(m.free, direction.values()));
    CHECK(now < last);
    CHECK(now > least);
    last = now;
  }
}

TEST("Newton direction from a diagonal X is the closed form, and the general solver finds it too") {
  Rng rng(3);
  Monitor monitor;
  for (Index p : {1, 2, 10}) {
    const Model m = draw_model(p, true, rng);
    const Penalty lambda = Penalty::matrix(m.lambda);
    const ConstMatrixRef s(m.s);
    NewtonDirection direct(s, lambda, m.w, m.free, monitor), general(s, lambda, m.w, m.free, monitor);
    direct.solve_diagonal();
    general.solve_to(1e-14);
    CHECK_NEAR((direct.values() - general.values()).cwiseAbs().maxCoeff(), 0, 1e-12);
    Index k = 0;
    for (Index j = 0; j < p; ++j) {
      for (SparseMatrix::InnerIterator it(m.free, j); it; ++it, ++k) {
        const Index i = it.row();
        if (i == j) {  // one variable: min (s - w) d + w^2 d^2 / 2 + l |x + d|, with x = 1 / w
          const double w = m.w(i, i), best = std::max(0.0, m.x(i, i) - (m.s(i, i) - w + m.lambda(i, i)) / (w * w));
          CHECK_NEAR(direct.values()[k] + m.x(i, i), best, 1e-12);
        } else {
          CHECK_NEAR(direct.values()[k], soft(-m.s(i, j), m.lambda(i, j)) * m.x(i, i) * m.x(j, j), 1e-12);
        }
      }
    }
  }
}

TEST("Newton direction: predicted decrease is as its definition, and at most -|D|^2 / |X|^2") {
  Rng rng(4);
  Monitor monitor;
  for (Index p : {2, 6, 11}) {
    const Model m = draw_model(p, false, rng);
    const Penalty lambda = Penalty::matrix(m.lambda);
    const ConstMatrixRef s(m.s);
    NewtonDirection direction(s, lambda, m.w, m.free, monitor);
    direction.solve_to(1e-14);
    const MatrixXd d = as_symmetric(m.free, direction.values());
    CHECK_NEAR(direction.trace_gradient(), ((m.s - m.w) * d).trace(), 1e-11);
    const double before = m.lambda.cwiseProduct(m.x.cwiseAbs()).sum(), after = m.lambda.cwiseProduct((m.x + d).cwiseAbs()).sum();
    CHECK_NEAR(direction.penalty_change(), after - before, 1e-11);
    const double norm = Eigen::SelfAdjointEigenSolver<MatrixXd>(m.x).eigenvalues().maxCoeff();
    CHECK(direction.trace_gradient() + direction.penalty_change() <= -d.squaredNorm() / (norm * norm) + 1e-12);  // Proposition 4
  }
}

TEST("Newton direction: large and small units give the same direction") {
  Rng rng(5);
  Monitor monitor;
  const Model m = draw_model(10, false, rng);
  const ConstMatrixRef s(m.s);
  const Penalty lambda = Penalty::matrix(m.lambda);
  NewtonDirection plain(s, lambda, m.w, m.free, monitor);
  plain.solve_to(1e-13);
  for (double c : {1e-8, 1e8}) {
    const MatrixXd cs = c * m.s, cw = c * m.w;
    const SparseMatrix cx = m.free / c;
    const ConstMatrixRef cs_ref(cs);
    const Penalty c_lambda = lambda.scaled(c);
    NewtonDirection scaled(cs_ref, c_lambda, cw, cx, monitor);
    scaled.solve_to(1e-13);
    CHECK_NEAR((c * scaled.values() - plain.values()).cwiseAbs().maxCoeff(), 0, 1e-10);
  }
}

namespace {
struct StopsAtOnce : Monitor {
  bool poll() override { return true; }
};
}  // namespace

TEST("Newton direction stops when the monitor says so") {
  Rng rng(6);
  StopsAtOnce monitor;
  monitor.request_stop();
  const Model m = draw_model(9, false, rng);
  const ConstMatrixRef s(m.s);
  const Penalty lambda = Penalty::matrix(m.lambda);
  NewtonDirection direction(s, lambda, m.w, m.free, monitor);
  CHECK_THROWS(direction.solve_to(1e-10), Interrupted);
}
