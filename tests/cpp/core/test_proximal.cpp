#include "eigen.h"
#include <cmath>
#include <random>

#include "core/prox/proximal.h"
#include "harness.h"

using namespace granary;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double scales[] = {1e-8, 1.0, 1e8};

struct Source {
  std::mt19937_64 engine;
  explicit Source(unsigned seed) : engine(seed) {}
  double uniform() { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; }
  MatrixXd matrix(Index rows, Index cols) {
    return MatrixXd::NullaryExpr(rows, cols, [this](Index, Index) { return 2 * uniform() - 1; });
  }
  VectorXd vector(Index n) { return matrix(n, 1); }
  VectorXd ties(Index n) {  // many equal entries
    return VectorXd::NullaryExpr(n, [this](Index) { return std::floor(5 * uniform()) - 2; });
  }
};

double largest(const MatrixXd& x) { return x.size() ? x.cwiseAbs().maxCoeff() : 0; }

// x = prox_g(v) for a norm g iff s = v - x has dual norm <= lambda and s'x = lambda g(x).
void check_norm_prox(const VectorXd& v, const VectorXd& x, double dual_norm, double norm, double lambda) {
  const double size = std::max(v.norm(), 1e-300);
  CHECK(dual_norm <= lambda + 1e-13 * size);
  CHECK_NEAR((v - x).dot(x), lambda * norm, 1e-13 * size * size);
}

// The dual of total variation: u_k = sum_{i <= k} w_i (y_i - x_i) must stay in [-lambda_k, lambda_k], meet the bound at
// every jump with the jump's sign, and end at zero.
void check_total_variation(const VectorXd& y, const VectorXd& lambda, const VectorXd& w, const VectorXd& x) {
  double u = 0;
  const double size = (w.cwiseProduct(y)).lpNorm<1>() + 1e-300, spread = largest(y);
  bool inside = true, signs = true;
  for (Index k = 0; k + 1 < y.size(); ++k) {
    u += w[k] * (y[k] - x[k]);
    inside = inside && std::abs(u) <= lambda[k] + 1e-12 * size;
    const double jump = x[k + 1] - x[k];
    if (std::abs(jump) > 1e-10 * spread) signs = signs && std::abs(u + (jump > 0 ? lambda[k] : -lambda[k])) <= 1e-12 * size;
  }
  u += w[y.size() - 1] * (y[y.size() - 1] - x[y.size() - 1]);
  CHECK(inside);
  CHECK(signs);
  CHECK_NEAR(u, 0, 1e-12 * size);
}

}  // namespace

TEST("soft thresholding of scalars, vectors and matrices") {
  CHECK_NEAR(soft_threshold(3.0, 1.0), 2, 0);
  CHECK_NEAR(soft_threshold(-3.0, 1.0), -2, 0);
  CHECK_NEAR(soft_threshold(1.0, 1.0), 0, 0);
  CHECK(std::isnan(soft_threshold(std::nan(""), 1.0)));
  MatrixXd m(2, 2), l(2, 2);
  m << 1, -2, 3, -4;
  l << 0, 1, 5, 1;
  CHECK_NEAR(soft_threshold(m, 1.5)(1, 1), -2.5, 0);
  CHECK_NEAR(soft_threshold(m, l)(0, 1), -1, 0);
  CHECK_NEAR(soft_threshold(m, l)(1, 0), 0, 0);
  CHECK(soft_threshold(VectorXd(), 1.0).size() == 0);
  CHECK_THROWS(soft_threshold(m, VectorXd(VectorXd::Ones(2))), InputError);
  CHECK_NEAR(prox_elastic_net(m, 1.0, 1.0)(1, 0), 1, 0);
}

TEST("group norms satisfy their subgradient conditions") {
  Source source(1);
  for (double scale : scales) {
    for (int round = 0; round < 20; ++round) {
      const VectorXd v = scale * (round % 2 ? source.vector(6) : source.ties(6));
      for (double relative : {0.0, 0.3, 1.0, 20.0}) {
        const double lambda = scale * relative;
        const VectorXd two = prox_group_l2(v, lambda), inf = prox_group_linf(v, lambda);
        check_norm_prox(v, two, (v - two).norm(), two.norm(), lambda);
        check_norm_prox(v, inf, (v - inf).lpNorm<1>(), largest(inf), lambda);
        // sparse group: brute force over directions cannot beat it
        const double l1 = 0.2 * lambda, l2 = 0.5 * lambda;
        const VectorXd x = prox_sparse_group(v, l1, l2);
        const auto cost = [&](const VectorXd& z) { return 0.5 * (z - v).squaredNorm() + l1 * z.lpNorm<1>() + l2 * z.norm(); };
        bool best = true;
        for (int trial = 0; trial < 50; ++trial) {
          const double step = scale * std::pow(10.0, -4 * source.uniform());
          best = best && cost(x) <= cost(x + step * source.vector(6)) + 1e-14 * scale * scale;
        }
        CHECK(best);
      }
    }
  }
  CHECK(prox_group_l2(VectorXd(), 1).size() == 0);
  CHECK(prox_group_linf(VectorXd(), 1).size() == 0);
  CHECK_THROWS(prox_group_l2(VectorXd::Ones(2), -1), InputError);
  CHECK_THROWS(prox_group_linf(VectorXd::Ones(2), -1), InputError);
}

TEST("total variation satisfies its dual conditions, with weights, ties and any scale") {
  Source source(2);
  for (double scale : scales) {
    for (Index n : {1, 2, 3, 10, 200}) {
      for (int round = 0; round < 6; ++round) {
        const VectorXd y = scale * (round % 2 ? source.vector(n) : source.ties(n));
        const VectorXd lambda = scale * (source.vector(std::max<Index>(0, n - 1)).array() + 1) * (round < 3 ? 0.3 : 5.0);
        const VectorXd w = source.vector(n).array() + 1.1;
        check_total_variation(y, lambda, w, prox_total_variation(y, lambda, w));
        check_total_variation(y, lambda, VectorXd::Ones(n), prox_total_variation(y, lambda));
        const VectorXd same = VectorXd::Constant(std::max<Index>(0, n - 1), 0.4 * scale);
        check_total_variation(y, same, VectorXd::Ones(n), prox_total_variation(y, 0.4 * scale));
      }
    }
  }
  const VectorXd y = Source(3).vector(30);
  CHECK(largest(prox_total_variation(y, 0) - y) < 1e-15);
  CHECK(largest(prox_total_variation(y, 1e6).array() - y.mean()) < 1e-10);
  const VectorXd offset = y.array() + 1e8;  // the answer moves along with the data
  CHECK(largest((prox_total_variation(offset, 0.5).array() - 1e8).matrix() - prox_total_variation(y, 0.5)) < 1e-6);
  CHECK(prox_total_variation(VectorXd(), 1.0).size() == 0);
  CHECK_THROWS(prox_total_variation(y, VectorXd::Ones(30)), InputError);
  CHECK_THROWS(prox_total_variation(y, -1.0), InputError);
  CHECK_THROWS(prox_total_variation(y, infinity), InputError);
  CHECK_THROWS(prox_total_variation(y, VectorXd::Ones(29), VectorXd::Zero(30)), InputError);
}

TEST("total variation by hand, and the fused lasso") {
  VectorXd y(3);
  y << 0, 0, 3;
  const VectorXd x = prox_total_variation(y, 1);
  CHECK_NEAR(x[0], 0.5, 1e-15);
  CHECK_NEAR(x[1], 0.5, 1e-15);
  CHECK_NEAR(x[2], 2, 1e-15);
  const VectorXd fused = prox_fused_lasso(y, 0.75, 1);
  CHECK_NEAR(fused[0], 0, 0);
  CHECK_NEAR(fused[2], 1.25, 1e-15);
  Source source(4);
  for (int round = 0; round < 10; ++round) {
    const VectorXd v = source.vector(8), z = prox_fused_lasso(v, 0.2, 0.3);
    const auto cost = [&](const VectorXd& a) {
      return 0.5 * (a - v).squaredNorm() + 0.2 * a.lpNorm<1>() + 0.3 * (a.tail(7) - a.head(7)).lpNorm<1>();
    };
    bool best = true;
    for (int trial = 0; trial < 300; ++trial) {
      VectorXd move = std::pow(10.0, -4 * source.uniform()) * source.ties(8);
      best = best && cost(z) <= cost(z + move) + 1e-14;
    }
    CHECK(best);
  }
}

TEST("the log-determinant prox is stationary and positive definite") {
  Source source(5);
  for (double scale : scales) {
    const MatrixXd half = source.matrix(5, 5);
    const MatrixXd s = scale * half * half.transpose(), z = (source.matrix(5, 5) + 2 * MatrixXd::Identity(5, 5)) / scale;
    const MatrixXd z_symmetric = 0.5 * (z + z.transpose());
    for (double rho : {0.01, 1.0, 50.0}) {
      const double r = rho * scale * scale;
      const LogDetProx prox = prox_log_det(s, z_symmetric, r);
      CHECK(largest(-prox.x.inverse() + s + r * (prox.x - z_symmetric)) < 1e-11 * scale * std::max(1.0, rho));
      CHECK(Eigen::SelfAdjointEigenSolver<MatrixXd>(prox.x).eigenvalues()[0] > 0);
      CHECK_NEAR(prox.log_determinant, std::log(prox.x.determinant()), 1e-9);
    }
  }
  // far negative eigenvalues: the small root keeps its digits
  const LogDetProx tiny = prox_log_det(MatrixXd::Constant(1, 1, 1e9), MatrixXd::Zero(1, 1), 1);
  CHECK_NEAR(tiny.x(0, 0) * 1e9, 1, 1e-12);
  CHECK_THROWS(prox_log_det(MatrixXd::Identity(2, 2), MatrixXd::Identity(3, 3), 1), InputError);
  CHECK_THROWS(prox_log_det(MatrixXd::Identity(2, 2), MatrixXd::Identity(2, 2), 0), InputError);
}

TEST("the nuclear prox satisfies the subgradient condition") {
  Source source(6);
  for (double scale : scales) {
    const MatrixXd v = scale * source.matrix(6, 4);
    for (double lambda : {0.0, 0.7 * scale, 100 * scale}) {
      const NuclearProx prox = prox_nuclear(v, lambda);
      const MatrixXd s = v - prox.x;
      CHECK(Eigen::JacobiSVD<MatrixXd>(s).singularValues()[0] <= lambda + 1e-13 * scale);
      CHECK_NEAR(s.cwiseProduct(prox.x).sum(), lambda * prox.values.sum(), 1e-12 * scale * scale);
      CHECK_NEAR(Eigen::JacobiSVD<MatrixXd>(prox.x).singularValues().sum(), prox.values.sum(), 1e-12 * scale);
    }
  }
  CHECK(prox_nuclear(MatrixXd(0, 3), 1).x.cols() == 3);
}

TEST("simplex and l1-ball projections agree with bisection and repeat without change") {
  Source source(7);
  for (double scale : scales) {
    for (int round = 0; round < 20; ++round) {
      const VectorXd v = scale * (round % 2 ? source.vector(9) : source.ties(9));
      const double total = scale * (0.01 + 3 * source.uniform());
      const auto by_bisection = [&](const VectorXd& u) {
        double low = u.minCoeff() - total, high = u.maxCoeff();
        for (int k = 0; k < 200; ++k) {
          const double middle = 0.5 * (low + high);
          ((u.array() - middle).max(0).sum() > total ? low : high) = middle;
        }
        return VectorXd((u.array() - high).max(0));
      };
      const VectorXd x = project_simplex(v, total);
      CHECK(largest(x - by_bisection(v)) < 1e-13 * scale);
      CHECK_NEAR(x.sum(), total, 1e-13 * scale);
      CHECK(largest(project_simplex(x, total) - x) < 1e-14 * scale);
      const VectorXd ball = project_l1_ball(v, total);
      if (v.lpNorm<1>() > total) {
        CHECK(largest(ball.cwiseAbs() - by_bisection(v.cwiseAbs())) < 1e-13 * scale);
        CHECK((ball.array() * v.array() >= 0).all());
      } else {
        CHECK(largest(ball - v) == 0);
      }
      CHECK(largest(project_l1_ball(ball, total) - ball) < 1e-14 * scale);
      CHECK(largest(project_weighted_simplex(v, VectorXd::Ones(9), total) - x) < 1e-13 * scale);
    }
  }
  const VectorXd far = VectorXd::Constant(4, 1e12) + VectorXd::Unit(4, 1);
  CHECK_NEAR(project_simplex(far)[1], 1, 1e-15);
  CHECK_THROWS(project_simplex(VectorXd()), InputError);
  CHECK_THROWS(project_simplex(VectorXd::Ones(2), 0), InputError);
  CHECK_THROWS(project_simplex(VectorXd::Constant(2, std::nan(""))), InputError);
  CHECK(project_l1_ball(VectorXd(), 1).size() == 0);
  CHECK(largest(project_l1_ball(VectorXd::Ones(2), 0)) == 0);
}

TEST("the projection onto the nuclear-norm ball is that of the singular values") {
  MatrixXd a(3, 2);
  a << 2, 0, 0, 1, 0, 0;
  const MatrixXd inside = project_nuclear_ball(a, 4), cut = project_nuclear_ball(a, 2);  // (2, 1) onto |x|_1 <= 2: (1.5, 0.5)
  CHECK_NEAR((inside - a).norm(), 0, 1e-14);
  CHECK_NEAR(cut(0, 0), 1.5, 1e-14);
  CHECK_NEAR(cut(1, 1), 0.5, 1e-14);
  CHECK_NEAR(cut.norm(), std::sqrt(2.5), 1e-14);
  CHECK_NEAR(project_nuclear_ball(a, 0).norm(), 0, 0);
  CHECK(project_nuclear_ball(MatrixXd(0, 3), 1).cols() == 3);
  CHECK_THROWS(project_nuclear_ball(a, -1), InputError);
  CHECK_THROWS(project_nuclear_ball(MatrixXd::Constant(2, 2, std::nan("")), 1), InputError);
}

TEST("ball, box and cone projections are idempotent and feasible") {
  Source source(8);
  for (double scale : scales) {
    const VectorXd v = 3 * scale * source.vector(5);
    const VectorXd two = project_l2_ball(v, scale), inf = project_linf_ball(v, scale);
    CHECK_NEAR(two.norm(), scale, 1e-14 * scale);
    CHECK(largest(project_l2_ball(two, scale * (1 + 1e-15)) - two) <= 1e-14 * scale);
    CHECK(largest(inf) <= scale);
    CHECK(largest(project_linf_ball(inf, scale) - inf) == 0);
    const VectorXd box = project_box(v, VectorXd::Zero(5), VectorXd::Constant(5, scale));
    CHECK(box.minCoeff() >= 0 && box.maxCoeff() <= scale);
    const MatrixXd half = scale * source.matrix(4, 4), a = half + half.transpose(), psd = project_psd(a);
    CHECK(largest(project_psd(psd) - psd) < 1e-13 * scale);
  }
  CHECK_THROWS(project_box(VectorXd::Zero(1), VectorXd::Ones(1), VectorXd::Zero(1)), InputError);
  CHECK_THROWS(project_l2_ball(VectorXd::Ones(1), -1), InputError);
}

TEST("the quadratic knapsack meets its optimality conditions and knows when there is no solution") {
  Source source(9);
  for (double scale : scales) {
    for (int round = 0; round < 60; ++round) {
      const Index n = 7;
      const VectorXd d = source.vector(n).array() + 1.1, a = scale * (round % 2 ? source.vector(n) : source.ties(n));
      VectorXd b = round % 3 ? source.vector(n) : source.ties(n), lower = scale * source.vector(n), upper = lower;
      upper.array() += scale * (source.vector(n).array() + 1);
      if (round % 4 == 0) {
        lower[0] = -infinity;
        upper[1] = infinity;
        b[0] = b[1] = 1;
      }
      // a right-hand side that some point within the bounds attains
      VectorXd point = lower;
      for (Index i = 0; i < n; ++i) {
        const double from = std::isfinite(lower[i]) ? lower[i] : -5 * scale, to = std::isfinite(upper[i]) ? upper[i] : 5 * scale;
        point[i] = from + source.uniform() * (to - from);
      }
      const double r = b.dot(point);
      const KnapsackResult result = quadratic_knapsack(d, a, b, r, lower, upper);
      const VectorXd& x = result.x;
      CHECK_NEAR(b.dot(x), r, 1e-13 * scale);
      CHECK((x.array() >= lower.array()).all() && (x.array() <= upper.array()).all());
      bool stationary = true;
      for (Index i = 0; i < n; ++i) {
        const double gradient = d[i] * (x[i] - a[i]) - result.multiplier * b[i];
        const double tol = 1e-12 * scale * std::max(1.0, std::abs(result.multiplier) / scale);
        if (x[i] > lower[i]) stationary = stationary && gradient <= tol;
        if (x[i] < upper[i]) stationary = stationary && gradient >= -tol;
      }
      CHECK(stationary);
    }
  }
  const VectorXd one = VectorXd::Ones(3), zero = VectorXd::Zero(3);
  CHECK_THROWS(quadratic_knapsack(one, zero, one, 4, zero, one), InputError);
  CHECK_THROWS(quadratic_knapsack(one, zero, one, -1, zero, one), InputError);
  CHECK_THROWS(quadratic_knapsack(zero, zero, one, 1, zero, one), InputError);
  CHECK_THROWS(quadratic_knapsack(one, zero, one, 1, one, zero), InputError);
  CHECK_THROWS(quadratic_knapsack(one, zero, zero, 1, zero, one), InputError);
  CHECK(largest(quadratic_knapsack(one, zero, one, 3, zero, one).x - one) == 0);  // only the corner is feasible
  CHECK(largest(quadratic_knapsack(one, zero, one, 0, zero, one).x) == 0);
  CHECK(quadratic_knapsack(VectorXd(), VectorXd(), VectorXd(), 0, VectorXd(), VectorXd()).x.size() == 0);
}

TEST("the prox of a group's largest entry bears a penalty within rounding of the l1 norm") {
  for (int k = 0; k < 2000; ++k) {
    VectorXd v(2 + k % 9);
    for (Index i = 0; i < v.size(); ++i) v[i] = std::sin(1.0 + 37.0 * k + 11.0 * static_cast<double>(i));
    const VectorXd x = prox_group_linf(v, v.lpNorm<1>() * (1 - 2.3e-16));
    CHECK(x.cwiseAbs().maxCoeff() <= 1e-14);
  }
}

TEST("the separable trust region finds the global minimum, in the hard case too") {
  Source source(10);
  for (double scale : scales) {
    for (int round = 0; round < 100; ++round) {
      const Index n = 4;
      VectorXd d = source.vector(n), g = scale * source.vector(n);
      if (round % 4 == 0) d = d.cwiseAbs();
      if (round % 4 == 1) {  // hard or nearly
        Index smallest;
        d.minCoeff(&smallest);
        g[smallest] *= round % 8 == 1 ? 0 : 1e-13;
      }
      if (round % 10 == 7) g.setZero();
      if (round % 10 == 3) d.setConstant(d[0]);
      const double radius = scale * std::pow(10.0, 4 * source.uniform() - 2);
      const TrustRegionResult result = separable_trust_region(d, g, radius);
      const VectorXd& x = result.x;
      const double size = g.norm() + largest(d) * radius;
      CHECK(x.norm() <= radius * (1 + 1e-12));
      CHECK(result.multiplier >= 0 && (d.array() + result.multiplier).minCoeff() >= -1e-12);
      CHECK((d.cwiseProduct(x) + result.multiplier * x + g).norm() <= 1e-11 * size);
      CHECK(result.multiplier == 0 || std::abs(x.norm() - radius) <= 1e-11 * radius);
    }
  }
  CHECK(separable_trust_region(VectorXd(), VectorXd(), 1).x.size() == 0);
  CHECK(largest(separable_trust_region(VectorXd::Ones(2), VectorXd::Ones(2), 0).x) == 0);
  CHECK_THROWS(separable_trust_region(VectorXd::Ones(2), VectorXd::Ones(2), -1), InputError);
}
