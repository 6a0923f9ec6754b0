#include "eigen.h"
#include <algorithm>
#include <vector>

#include "core/random/rng.h"
#include "graph/glasso.h"
#include "graph/nodes.h"
#include "graph/nodes_bcd.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

const RowNorm both_norms[] = {RowNorm::l2, RowNorm::linf};

// The first `linked` variables form a chain, the others are noise.
MatrixXd node_covariance(Index p, Index linked, Index n, Rng& rng, double noise = 1) {
  MatrixXd x(n, p);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) x(i, j) = j < linked ? rng.normal() + (j > 0 ? 0.7 * x(i, j - 1) : 0) : noise * rng.normal();
  }
  return x.transpose() * x / static_cast<double>(n);
}

MatrixXd dense(const NodesResult& fit) { return MatrixXd(symmetric_from_upper(fit.upper)); }

// The objective from its definition, with nothing shared with the code under test.
double objective(const MatrixXd& x, const MatrixXd& s, const NodesPenalty& penalty) {
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(x).eigenvalues();
  if (values[0] <= 0) return std::numeric_limits<double>::infinity();
  double out = -values.array().log().sum() + (s * x).trace();
  for (Index i = 0; i < x.rows(); ++i) {
    double squares = 0, top = 0;
    for (Index j = 0; j < x.cols(); ++j) {
      out += penalty.rho * std::abs(x(i, j));
      if (i == j) continue;
      squares += x(i, j) * x(i, j);
      top = std::max(top, std::abs(x(i, j)));
    }
    out += penalty.tau * (penalty.norm == RowNorm::l2 ? std::sqrt(squares) : top);
  }
  return out;
}

NodesOptions tight(NodesMethod method = NodesMethod::admm) {
  NodesOptions options;
  options.method = method;
  options.tol = 1e-9;
  options.max_iter = 20000;
  return options;
}

}  // namespace

TEST("nodes: the scalar problem (3.11) against a search") {
  Rng rng(1);
  for (int k = 0; k < 400; ++k) {
    for (RowNorm norm : both_norms) {
      const NodesPenalty penalty{rng.uniform(0, 0.5), k % 7 == 0 ? 0 : rng.uniform(0, 1), norm};
      const double q = rng.uniform(0.2, 3), c = rng.uniform(-3, 3);
      const double a = k % 3 == 0 ? 0 : rng.uniform(0, 1), b = k % 4 == 0 ? 0 : k % 5 == 0 ? a : rng.uniform(0, 1e-3);
      const auto pair_norm = [&](double x, double y) {
        return norm == RowNorm::l2 ? std::hypot(x, y) : std::max(std::abs(x), y);
      };
      const auto f = [&](double x) {
        return q * x * x / 2 - c * x + penalty.rho * std::abs(x) + penalty.tau / 2 * (pair_norm(x, a) + pair_norm(x, b));
      };
      double low = -20, high = 20;
      for (int step = 0; step < 200; ++step) {  // f is convex
        const double left = low + (high - low) / 3, right = high - (high - low) / 3;
        (f(left) < f(right) ? high : low) = f(left) < f(right) ? right : left;
      }
      const double mine = nodes_scalar(q, c, a, b, penalty);
      CHECK(f(mine) <= f((low + high) / 2) + 1e-13);
      CHECK_NEAR(mine, (low + high) / 2, 1e-6);
      if (f(0.0) <= f(1e-9) && f(0.0) <= f(-1e-9)) CHECK(mine == 0);
    }
  }
  // The thesis' test for zero, |c| <= rho, forgets the kink of the norms at a = b = 0.
  const NodesPenalty penalty{0.1, 1, RowNorm::l2};
  CHECK(nodes_scalar(1, 0.5, 0, 0, penalty) == 0);
  CHECK(nodes_scalar(1, 0.5, 1, 1, penalty) > 0);
}

TEST("nodes: two variables in closed form") {
  MatrixXd s(2, 2);
  s << 1, 0.6, 0.6, 2;
  Monitor monitor;
  for (RowNorm norm : both_norms) {
    for (NodesMethod method : {NodesMethod::admm, NodesMethod::bcd, NodesMethod::both}) {
      const NodesResult fit = nodes_fit(s, {0.1, 0.2, norm}, tight(method), monitor);
      const MatrixXd x = dense(fit);
      CHECK_NEAR(x(0, 0), 0.945946, 1e-6);
      CHECK_NEAR(x(0, 1), -0.135135, 1e-6);
      CHECK_NEAR(x(1, 1), 0.495496, 1e-6);
      MatrixXd w(2, 2);
      w << 1.1, 0.3, 0.3, 2.1;
      CHECK_NEAR((fit.w - w).cwiseAbs().maxCoeff(), 0, 1e-7);
      CHECK(fit.convergence.converged && std::abs(fit.convergence.gap) < 1e-9);
    }
  }
}

TEST("nodes: without the row penalty it is the graphical lasso") {
  Rng rng(2);
  Monitor monitor;
  for (Index p : {3, 9, 15}) {
    const MatrixXd s = node_covariance(p, p / 2, p, rng);
    GlassoOptions options;
    options.tol = 1e-11;
    options.max_iter = 1000;
    for (double rho : {0.05, 0.3}) {
      const MatrixXd x(symmetric_from_upper(glasso(s, Penalty::scalar(rho), options, monitor).state.upper));
      for (RowNorm norm : both_norms) {
        const NodesResult fit = nodes_fit(s, {rho, 0, norm}, tight(), monitor);
        CHECK_NEAR((dense(fit) - x).cwiseAbs().maxCoeff(), 0, 1e-6);
        CHECK((dense(fit).array() == 0).cast<int>().sum() == (x.array() == 0).cast<int>().sum());
      }
    }
  }
}

TEST("nodes: optimal against every direction, objective and gap as defined") {
  Rng rng(3);
  Monitor monitor;
  for (Index p : {2, 3, 4, 12}) {
    for (Index n : {3, 40}) {
      const MatrixXd s = node_covariance(p, p / 2 + 1, n, rng);
      for (RowNorm norm : both_norms) {
        for (double rho : {0.0, 0.03}) {
          const NodesPenalty penalty{rho, 0.4, norm};
          const NodesResult fit = nodes_fit(s, penalty, tight(), monitor);
          const MatrixXd x = dense(fit);
          const double best = objective(x, s, penalty);
          CHECK(fit.convergence.converged);
          CHECK_NEAR(fit.objective, best, 1e-10 * (1 + std::abs(best)));
          CHECK(fit.convergence.gap > -1e-11 && fit.convergence.gap < 1e-6);
          CHECK_NEAR((fit.w * x - MatrixXd::Identity(p, p)).cwiseAbs().maxCoeff(), 0, 1e-9);
          CHECK_NEAR((s * x).trace() + nodes_penalty(x, penalty), static_cast<double>(p), 1e-5);  // (3.6)
          CHECK_NEAR((fit.w.diagonal() - s.diagonal()).maxCoeff(), rho, 1e-6);
          for (int k = 0; k < 200; ++k) {
            MatrixXd e = MatrixXd::Zero(p, p);
            const double size = std::pow(10.0, -rng.uniform(0, 4));
            for (Index j = 0; j < p; ++j) {
              for (Index i = 0; i <= j; ++i) {
                if (rng.uniform() < 0.5) e(i, j) = e(j, i) = size * rng.normal();
              }
            }
            CHECK(objective(x + e, s, penalty) >= best - 1e-8);
          }
        }
      }
    }
  }
}

TEST("nodes: the block descent descends, stops above the optimum, and stays there once at it") {
  Rng rng(4);
  Monitor monitor;
  int stalled = 0;
  for (int k = 0; k < 12; ++k) {
    const MatrixXd s = node_covariance(8, 6, 30, rng);
    for (RowNorm norm : both_norms) {
      const NodesPenalty penalty{0.01, 0.5, norm};
      NodesOptions plain = tight(NodesMethod::bcd);
      plain.max_iter = 200;
      const NodesResult exact = nodes_fit(s, penalty, tight(), monitor), bcd = nodes_fit(s, penalty, plain, monitor);
      const NodesResult finished = nodes_fit(s, penalty, tight(NodesMethod::both), monitor);
      CHECK(bcd.objective >= exact.objective - 1e-9);
      CHECK(bcd.convergence.gap >= bcd.objective - exact.objective - 1e-9);
      CHECK_NEAR(finished.objective, exact.objective, 1e-8);
      for (std::size_t t = 1; t < bcd.trace.size(); ++t) CHECK(bcd.trace[t] <= bcd.trace[t - 1] + 1e-12);
      stalled += bcd.objective > exact.objective + 1e-3;
      const MatrixXd at = dense(exact);
      const NodesResult again = nodes_fit(s, penalty, plain, monitor, &at);
      CHECK_NEAR((dense(again) - at).cwiseAbs().maxCoeff(), 0, 1e-4);
      CHECK(again.objective <= exact.objective + 1e-10);
    }
  }
  CHECK(stalled >= 8);
}

TEST("nodes: the set rule finds the largest set, and each rule contains the one before") {
  Rng rng(5);
  int by_set = 0;
  for (int k = 0; k < 60; ++k) {
    const int p = 7;
    const MatrixXd s = node_covariance(p, 4, 15, rng);
    for (RowNorm norm : both_norms) {
      const NodesPenalty penalty{rng.uniform(0, 0.2), rng.uniform(0.1, 2), norm};
      // A subset is allowed if every member passes; peel the union of the allowed ones, then go on with the rest.
      std::vector<int> left;
      for (int i = 0; i < p; ++i) left.push_back(i);
      std::vector<char> isolated(p, 0);
      for (bool changed = true; changed && !left.empty();) {
        int largest = 0;
        const int m = static_cast<int>(left.size());
        for (int set = 1; set < (1 << m); ++set) {
          bool allowed = true;
          for (int a = 0; a < m && allowed; ++a) {
            if (!(set >> a & 1)) continue;
            VectorXd row = VectorXd::Zero(m);
            for (int b = 0; b < m; ++b) {
              if (a != b) row[b] = std::max(std::abs(s(left[a], left[b])) - penalty.rho, 0.0) * ((set >> b & 1) ? 0.5 : 1);
            }
            allowed = (norm == RowNorm::l2 ? row.norm() : row.lpNorm<1>()) <= penalty.tau / 2;
          }
          if (allowed) largest |= set;
        }
        std::vector<int> rest;
        for (int a = 0; a < m; ++a) {
          if (largest >> a & 1) {
            isolated[left[a]] = 1;
          } else {
            rest.push_back(left[a]);
          }
        }
        changed = rest.size() < left.size();
        left = rest;
      }
      const NodesScreening found = screen_nodes(s, penalty);
      for (int n = 0; n < p; ++n) {
        CHECK((found.rule[n] != ScreenRule::none) == static_cast<bool>(isolated[n]));
        by_set += found.rule[n] == ScreenRule::set;
        VectorXd row = s.col(n);
        row[n] = 0;
        const double dual = norm == RowNorm::l2 ? row.norm() : row.lpNorm<1>(),
                     share = norm == RowNorm::l2 ? std::sqrt(p - 1.0) : p - 1.0;
        const bool lemma =
            row.cwiseAbs().maxCoeff() <= penalty.rho + penalty.tau / (2 * share) || dual <= penalty.rho + penalty.tau / 2;
        CHECK((found.rule[n] == ScreenRule::lemma) == lemma);
      }
      const NodesScreening none = screen_nodes(s, {penalty.rho, largest_tau(s, penalty.rho, norm), norm});
      CHECK(none.components.size() == static_cast<std::size_t>(p));
    }
  }
  CHECK(by_set > 10);
}

TEST("nodes: screening changes nothing but the time, and no thread does") {
  Rng rng(6);
  Monitor monitor;
  for (int k = 0; k < 6; ++k) {
    const MatrixXd s = node_covariance(14, 6, 25, rng, 0.4);
    for (RowNorm norm : both_norms) {
      const NodesPenalty penalty{0.05, 0.6, norm};
      NodesOptions without = tight();
      without.screen = false;
      const NodesResult screened = nodes_fit(s, penalty, tight(), monitor), whole = nodes_fit(s, penalty, without, monitor);
      CHECK_NEAR(screened.objective, whole.objective, 1e-8);
      CHECK_NEAR((dense(screened) - dense(whole)).cwiseAbs().maxCoeff(), 0, 1e-5);
      const VectorXd norms = row_norms(dense(whole), norm);
      for (Index n = 0; n < 14; ++n) {
        if (screened.screening.rule[n] != ScreenRule::none) CHECK(norms[n] == 0);
      }
      NodesOptions two = tight();
      two.threads = 2;
      CHECK((dense(nodes_fit(s, penalty, two, monitor)) - dense(screened)).cwiseAbs().maxCoeff() == 0);
    }
  }
}

TEST("nodes: the largest entries of a row tie for l-inf") {
  Rng rng(7);
  Monitor monitor;
  int tied = 0, rows = 0;
  for (int k = 0; k < 5; ++k) {
    const MatrixXd x = dense(nodes_fit(node_covariance(8, 8, 30, rng), {0.01, 0.5, RowNorm::linf}, tight(), monitor));
    for (Index n = 0; n < 8; ++n) {
      VectorXd row = x.col(n).cwiseAbs();
      row[n] = 0;
      rows += row.maxCoeff() > 0;
      tied += row.maxCoeff() > 0 && (row.array() == row.maxCoeff()).count() > 1;
    }
  }
  CHECK(rows > 20 && 2 * tied > rows);
}

TEST("nodes: the same in any unit and any order") {
  Rng rng(8);
  Monitor monitor;
  const Index p = 8;
  const MatrixXd s = node_covariance(p, 5, 30, rng);
  Eigen::PermutationMatrix<Eigen::Dynamic> order(p);
  order.indices() << 3, 0, 7, 1, 6, 2, 5, 4;
  VectorXd sign = VectorXd::Ones(p);
  sign[1] = sign[4] = sign[6] = -1;
  for (RowNorm norm : both_norms) {
    const NodesPenalty penalty{0.05, 0.3, norm};
    const MatrixXd x = dense(nodes_fit(s, penalty, tight(), monitor));
    for (double c : {1e-8, 1e-3, 1e8}) {
      const NodesResult scaled = nodes_fit(c * s, {c * penalty.rho, c * penalty.tau, norm}, tight(), monitor);
      CHECK(scaled.convergence.converged);
      CHECK_NEAR((c * dense(scaled) - x).cwiseAbs().maxCoeff(), 0, 1e-6);
    }
    const MatrixXd moved = dense(nodes_fit(order * s * order.transpose(), penalty, tight(), monitor));
    CHECK_NEAR((moved - order * x * order.transpose()).cwiseAbs().maxCoeff(), 0, 1e-6);
    const MatrixXd flipped = dense(nodes_fit(sign.asDiagonal() * s * sign.asDiagonal(), penalty, tight(), monitor));
    CHECK_NEAR((flipped - sign.asDiagonal() * x * sign.asDiagonal()).cwiseAbs().maxCoeff(), 0, 1e-6);
  }
}

TEST("nodes: a path equals its fits, and any X can be certified") {
  Rng rng(9);
  Monitor monitor;
  const MatrixXd s = node_covariance(10, 5, 20, rng);
  for (RowNorm norm : both_norms) {
    const NodesPath grid{{0.05, 0.02, 0.01}, {1, 0.4, 0.2}, norm};
    const auto path = nodes_path(s, grid, tight(), monitor);
    std::vector<NodesPenalty> penalties;
    for (std::size_t k = 0; k < path.size(); ++k) {
      penalties.push_back({grid.rho[k], grid.tau[k], norm});
      const NodesResult alone = nodes_fit(s, penalties[k], tight(), monitor);
      CHECK_NEAR(path[k].objective, alone.objective, 1e-8);
      CHECK_NEAR((dense(path[k]) - dense(alone)).cwiseAbs().maxCoeff(), 0, 1e-4);
      CHECK(path[k].w.size() == 0);
      const NodesCertificate at = nodes_certificate(s, penalties[k], dense(alone));
      CHECK_NEAR(at.objective, alone.objective, 1e-10);
      CHECK(at.gap > -1e-10 && at.gap < 1e-3);
      const MatrixXd far = 2 * dense(alone);
      const NodesCertificate off = nodes_certificate(s, penalties[k], far);
      CHECK(off.gap >= off.objective - alone.objective - 1e-9 && off.gap > 0.1);
    }
  }
}

TEST("nodes: one variable, constant variables, and what cannot be") {
  Monitor monitor;
  const NodesResult one = nodes_fit(MatrixXd::Constant(1, 1, 2.0), {0.5, 3, RowNorm::l2}, {}, monitor);
  CHECK_NEAR(one.upper.coeff(0, 0), 0.4, 1e-15);
  CHECK(one.convergence.converged && one.convergence.gap == 0);
  MatrixXd s(3, 3);
  s << 1, 0.9, 0, 0.9, 1, 0, 0, 0, 0;
  const NodesResult constant = nodes_fit(s, {0.1, 0.2, RowNorm::linf}, {}, monitor);
  CHECK_NEAR(constant.upper.coeff(2, 2), 10, 1e-12);
  CHECK(constant.upper.coeff(0, 1) < 0);
  CHECK_THROWS(nodes_fit(s, {0, 0.2, RowNorm::l2}, {}, monitor), InputError);
  CHECK_THROWS(nodes_fit(s, {-1, 0.2, RowNorm::l2}, {}, monitor), InputError);
  CHECK_THROWS(nodes_fit(s, {1, -0.2, RowNorm::l2}, {}, monitor), InputError);
  CHECK_THROWS(nodes_fit(MatrixXd::Ones(2, 2), {0, 0, RowNorm::l2}, {}, monitor), NumericalError);
  CHECK_THROWS(nodes_fit(MatrixXd::Ones(2, 3), {1, 1, RowNorm::l2}, {}, monitor), InputError);
  const MatrixXd bad = -MatrixXd::Identity(2, 2);
  CHECK_THROWS(nodes_fit(MatrixXd::Ones(2, 2), {0.1, 0.1, RowNorm::l2}, {}, monitor, &bad), InputError);
  // S of rank one, rho = 0: the row norms alone bound the problem. W12 = 1 - tau.
  const NodesResult singular = nodes_fit(MatrixXd::Ones(2, 2), {0, 0.3, RowNorm::l2}, tight(), monitor);
  CHECK_NEAR(singular.w(0, 1), 0.7, 1e-6);
}
