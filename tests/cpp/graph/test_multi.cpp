#include "eigen.h"
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random/rng.h"
#include "graph/glasso.h"
#include "graph/multi.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

const MultiNorm norms[] = {MultiNorm::l2, MultiNorm::linf, MultiNorm::fused};

VectorXd vector_of(std::initializer_list<double> values) {
  VectorXd out(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

MatrixXd random_covariance(Index p, Index n, Rng& rng) {
  MatrixXd x(n, p);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) x(i, j) = rng.normal() + (j > 0 ? 0.6 * x(i, j - 1) : 0);
  }
  return x.transpose() * x / static_cast<double>(n);
}

struct Data {
  std::vector<MatrixXd> s;
  MultiProblem problem;
  Data(int tasks, Index p, Index n, Rng& rng, double scale = 1) {
    problem.weight.resize(tasks);
    for (int k = 0; k < tasks; ++k) {
      s.push_back(scale * random_covariance(p, n, rng));
      problem.weight[k] = 5.0 + 3.0 * k;
    }
    view();
  }
  explicit Data(std::vector<MatrixXd> covariances) : s(std::move(covariances)) {
    problem.weight = VectorXd::Ones(static_cast<Index>(s.size()));
    view();
  }
  void view() {
    problem.s.clear();
    for (const MatrixXd& m : s) problem.s.emplace_back(m.data(), m.rows(), m.cols());
  }
};

MatrixXd dense(const MultiState& state, int task) {
  return MatrixXd(symmetric_from_upper(task_upper(state.pattern, state.values, task)));
}

double block_objective(const MultiPenalty& penalty, const VectorXd& q, const VectorXd& c, const VectorXd& x) {
  return 0.5 * x.dot(q.cwiseProduct(x)) - c.dot(x) + penalty_value(penalty, x.data(), static_cast<int>(x.size()));
}

double full_objective(const MultiProblem& problem, const std::vector<MatrixXd>& x) {
  double f = 0;
  VectorXd block(problem.tasks());
  for (int k = 0; k < problem.tasks(); ++k) {
    const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(x[k]).eigenvalues();
    if (values.minCoeff() <= 0) return std::numeric_limits<double>::infinity();
    f += problem.weight[k] * (problem.s[k].cwiseProduct(x[k]).sum() - values.array().log().sum());
  }
  for (Index j = 0; j < x[0].cols(); ++j) {
    for (Index i = 0; i < x[0].rows(); ++i) {
      for (int k = 0; k < problem.tasks(); ++k) block[k] = x[k](i, j);
      f += penalty_value(problem.penalty(i == j), block.data(), problem.tasks());
    }
  }
  return f;
}

MultiResult fit(const MultiProblem& problem, MultiMethod method = MultiMethod::newton, double tol = 1e-9, int threads = 1,
                bool screen = true) {
  Monitor monitor;
  MultiOptions options;
  options.method = method;
  options.tol = tol;
  options.max_iter = method == MultiMethod::newton ? 100 : 20000;
  options.threads = threads;
  options.screen = screen;
  return multi(problem, options, monitor);
}

double distance(const MultiResult& a, const MultiResult& b) {
  double most = 0;
  for (int k = 0; k < a.state.values.rows(); ++k)
    most = std::max(most, (dense(a.state, k) - dense(b.state, k)).cwiseAbs().maxCoeff());
  return most;
}

}  // namespace

TEST("multi: the block problems have their closed forms") {
  const VectorXd knapsack = knapsack_prox(vector_of({1, 2}), vector_of({3, -1}), 2);
  CHECK_NEAR(knapsack[0], 1, 1e-14);
  CHECK_NEAR(knapsack[1], -0.5, 1e-14);
  const VectorXd region = trust_region_prox(vector_of({1, 2}), vector_of({3, -1}), 2);
  CHECK_NEAR(region[0], 1.0580908429, 1e-9);
  CHECK_NEAR(region[1], -0.2607361155, 1e-9);
  const VectorXd closed = trust_region_prox(VectorXd::Ones(3), vector_of({3, -4, 0}), 2);
  CHECK_NEAR((closed - vector_of({1.8, -2.4, 0})).norm(), 0, 1e-13);
  CHECK_NEAR(knapsack_prox(vector_of({1, 1}), vector_of({1, -1}), 2).norm(), 0, 0);
  CHECK_NEAR(trust_region_prox(vector_of({1, 1}), vector_of({3, 4}), 5).norm(), 0, 0);
  CHECK_THROWS(knapsack_prox(vector_of({1, 0}), vector_of({1, 1}), 1), InputError);
  CHECK_THROWS(trust_region_prox(vector_of({1, -1}), vector_of({1, 1}), 1), InputError);
  // two tasks, fused: equal once l2 pulls them together
  BlockSolver fused({MultiNorm::fused, 0, 1}, 2);
  VectorXd x(2);
  const VectorXd q = vector_of({1, 1}), c = vector_of({3, 0.5});
  fused.solve(q.data(), c.data(), x.data());
  CHECK_NEAR(x[0], 2, 1e-14);
  CHECK_NEAR(x[1], 1.5, 1e-14);
}

TEST("multi: the block problems are minimised, by every norm, against perturbations and pattern search") {
  Rng rng(1);
  for (int repeat = 0; repeat < 400; ++repeat) {
    const int tasks = 1 + repeat % 6;
    const double scale = repeat % 3 == 0 ? 1e-8 : repeat % 3 == 1 ? 1 : 1e8;
    VectorXd q(tasks), c(tasks), x(tasks);
    for (int k = 0; k < tasks; ++k) {
      q[k] = std::exp(rng.uniform(-2, 2));
      c[k] = scale * rng.normal();
    }
    for (const MultiNorm norm : norms) {
      const MultiPenalty penalty{norm, repeat % 2 ? scale * rng.uniform(0, 0.5) : 0,
                                 scale * rng.uniform(0, norm == MultiNorm::fused ? 0.4 : 1.2)};
      BlockSolver solver(penalty, tasks);
      solver.solve(q.data(), c.data(), x.data());
      const double best = block_objective(penalty, q, c, x);
      bool least = true;
      for (int trial = 0; trial < 60; ++trial) {
        VectorXd y = x;
        const double size = scale * std::pow(10.0, -rng.uniform(0, 5));
        if (trial % 3 == 0) {  // all that are equal move together
          const double level = x[trial % tasks], step = size * rng.normal();
          for (int k = 0; k < tasks; ++k) {
            if (x[k] == level) y[k] += step;
          }
        } else {
          for (int k = 0; k < tasks; ++k) y[k] += trial % 3 == 1 || k == trial % tasks ? size * rng.normal() : 0;
        }
        least = least && block_objective(penalty, q, c, y) >= best - 1e-13 * scale * scale * tasks;
      }
      CHECK(least);
      CHECK(solver.is_zero(c.data()) == (x.array() == 0).all());
      if (penalty.l2 > 0) {
        const double weight = solver.entry_weight(c.data());
        if (std::isfinite(weight)) {
          BlockSolver above(penalty.scaled(1.0001 * weight), tasks), below(penalty.scaled(0.9999 * weight), tasks);
          CHECK(above.is_zero(c.data()));
          CHECK(!below.is_zero(c.data()));
        }
      }
    }
  }
}

TEST("multi: the knapsack by medians equals the knapsack by sorting") {
  Rng rng(2);
  for (const int tasks : {1, 2, 7, 60, 301}) {
    for (const double share : {0.01, 0.5, 0.99}) {
      VectorXd q(tasks), c(tasks);
      for (int k = 0; k < tasks; ++k) {
        q[k] = rng.uniform(0.1, 3);
        c[k] = k % 5 == 0 ? 1.0 : rng.normal();  // ties
      }
      const double rho = share * c.lpNorm<1>();
      const VectorXd sorted = knapsack_prox(q, c, rho, 1000), median = knapsack_prox(q, c, rho, 0);
      CHECK_NEAR((sorted - median).cwiseAbs().maxCoeff(), 0, 1e-12);
      CHECK_NEAR((c - q.cwiseProduct(sorted)).lpNorm<1>(), rho, 1e-11 * tasks);
    }
  }
}

TEST("multi: the diagonal step of Section 4.8") {
  const DiagonalStep step = log_knapsack(vector_of({1, 1}), vector_of({1, 2}), vector_of({0.5, 0.1}), 0.5);
  CHECK_NEAR(step.r[0], 0.5, 1e-12);
  CHECK_NEAR(step.r[1], 0, 0);
  CHECK_NEAR(step.z[0], 0.5 + 1 / 1.5, 1e-12);
  CHECK_NEAR(step.z[1], 0.6, 1e-12);
  Rng rng(3);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const int tasks = 1 + repeat % 5;
    VectorXd q(tasks), c(tasks), b(tasks);
    for (int k = 0; k < tasks; ++k) {
      q[k] = rng.uniform(0.2, 3);
      c[k] = rng.uniform(0.2, 3);
      b[k] = repeat % 4 == 0 ? 0 : rng.uniform(0, 2);
    }
    const double rho = std::exp(rng.uniform(-3, 2));
    for (const MultiNorm norm : {MultiNorm::l2, MultiNorm::linf}) {
      const DiagonalStep out = norm == MultiNorm::l2 ? log_trust_region(q, c, b, rho) : log_knapsack(q, c, b, rho);
      CHECK_NEAR(norm == MultiNorm::l2 ? out.r.norm() : out.r.sum(), rho, 1e-11 * rho);
      const auto value = [&](const VectorXd& z) {
        return (q.array() * (z - b).array().log()).sum() - c.dot(z) - penalty_value({norm, 0, rho}, z.data(), tasks);
      };
      bool most = true;
      for (int trial = 0; trial < 40; ++trial) {
        VectorXd z = out.z;
        for (int k = 0; k < tasks; ++k) z[k] = b[k] + (z[k] - b[k]) * std::exp(rng.normal() * std::pow(10.0, -rng.uniform(0, 5)));
        if (trial % 2) z = b + (out.z - b) * (1 + 0.01 * rng.normal());
        most = most && value(z) <= value(out.z) + 1e-12 * (1 + std::abs(value(out.z)));
      }
      CHECK(most);
    }
  }
  CHECK_THROWS(log_knapsack(vector_of({1, 1}), vector_of({1, 2}), vector_of({0.5, -0.1}), 0.5), InputError);
  CHECK_THROWS(log_trust_region(vector_of({1, 1}), vector_of({1, 2}), vector_of({0.5, 0.1}), 0), InputError);
}

TEST("multi: three solvers, one answer, and a duality gap that closes") {
  Rng rng(4);
  for (const MultiNorm norm : norms) {
    for (const bool diagonal : {false, true}) {
      for (const double l1 : {0.0, 0.8}) {
        Data data(3, 8, 15, rng);
        data.problem.off = {norm, l1, norm == MultiNorm::fused ? 0.5 : 3.0};
        if (diagonal || norm == MultiNorm::fused) data.problem.diagonal = {norm, diagonal ? l1 : 0, data.problem.off.l2};
        const MultiResult newton = fit(data.problem);
        const double size = data.problem.weight.sum() * 8;
        CHECK(newton.convergence.converged);
        CHECK(newton.convergence.gap >= -1e-12 * size);
        CHECK(newton.convergence.gap <= 1e-9 * size);
        std::vector<MatrixXd> x;
        for (int k = 0; k < 3; ++k) x.push_back(dense(newton.state, k));
        CHECK_NEAR(full_objective(data.problem, x), newton.objective, 1e-10 * size);
        CHECK_NEAR((x[1] * newton.state.w[1] - MatrixXd::Identity(8, 8)).norm(), 0, 1e-9);
        const MultiResult admm = fit(data.problem, MultiMethod::admm, 1e-8);
        CHECK_NEAR(distance(newton, admm), 0, 1e-6);
        if (norm == MultiNorm::fused) {
          CHECK_THROWS(fit(data.problem, MultiMethod::bcd), InputError);
          continue;
        }
        const MultiResult bcd = fit(data.problem, MultiMethod::bcd, 1e-9);
        CHECK(bcd.convergence.converged);
        CHECK_NEAR(distance(newton, bcd), 0, 1e-7);
      }
    }
  }
}

TEST("multi: no perturbation of the answer is better, p = 3 and 4") {
  Rng rng(5);
  for (const MultiNorm norm : norms) {
    for (const Index p : {3, 4}) {
      Data data(2, p, 6, rng);
      data.problem.off = {norm, 0.3, 0.7};
      const MultiResult result = fit(data.problem, MultiMethod::newton, 1e-11);
      std::vector<MatrixXd> x = {dense(result.state, 0), dense(result.state, 1)};
      const double best = full_objective(data.problem, x);
      bool least = true;
      for (int trial = 0; trial < 600; ++trial) {
        std::vector<MatrixXd> y = x;
        const double size = std::pow(10.0, -rng.uniform(1, 5));
        for (Index j = 0; j < p; ++j) {
          for (Index i = 0; i <= j; ++i) {
            const double common = size * rng.normal();
            for (MatrixXd& m : y) {
              const double step = trial % 2 ? common : size * rng.normal();
              if (trial % 3 == 0 && i != j && m(i, j) == 0) continue;  // within the support
              m(i, j) += step;
              m(j, i) = m(i, j);
            }
          }
        }
        least = least && full_objective(data.problem, y) >= best - 1e-12 * std::abs(best);
      }
      CHECK(least);
    }
  }
}

TEST("multi: one task, identical tasks and separate tasks are graphical lassos") {
  Rng rng(6);
  Monitor monitor;
  GlassoOptions options;
  options.tol = 1e-11;
  const MatrixXd s = random_covariance(7, 20, rng);
  for (const int tasks : {1, 4}) {
    for (const MultiNorm norm : {MultiNorm::l2, MultiNorm::linf}) {
      Data data(std::vector<MatrixXd>(tasks, s));
      data.problem.weight.setConstant(6);
      data.problem.off = {norm, 0, 2};
      const double lambda = 2 / (6 * (norm == MultiNorm::l2 ? std::sqrt(tasks) : tasks));
      const GlassoResult one = glasso(s, Penalty::scalar(lambda, false), options, monitor);
      const MultiResult all = fit(data.problem, MultiMethod::newton, 1e-11);
      const MatrixXd expected(symmetric_from_upper(one.state.upper));
      for (int k = 0; k < tasks; ++k) CHECK_NEAR((dense(all.state, k) - expected).cwiseAbs().maxCoeff(), 0, 1e-8);
    }
  }
  Data data(3, 7, 20, rng);
  data.problem.off = {MultiNorm::l2, 1.5, 0};
  const MultiResult apart = fit(data.problem, MultiMethod::newton, 1e-11);
  data.problem.off.l2 = 1e-13;  // through the joint solver
  const MultiResult joint = fit(data.problem, MultiMethod::newton, 1e-11);
  for (int k = 0; k < 3; ++k) {
    const GlassoResult one = glasso(data.s[k], Penalty::scalar(1.5 / data.problem.weight[k], false), options, monitor);
    CHECK_NEAR((dense(apart.state, k) - MatrixXd(symmetric_from_upper(one.state.upper))).cwiseAbs().maxCoeff(), 0, 1e-9);
    CHECK_NEAR((dense(joint.state, k) - MatrixXd(symmetric_from_upper(one.state.upper))).cwiseAbs().maxCoeff(), 0, 1e-8);
  }
  // fused so hard that all tasks coincide: the graphical lasso of the pooled covariance
  data.problem.off = {MultiNorm::fused, 1.5, 100};
  data.problem.diagonal = {MultiNorm::fused, 0, 100};
  const MultiResult fused = fit(data.problem, MultiMethod::newton, 1e-11);
  MatrixXd pooled = MatrixXd::Zero(7, 7);
  for (int k = 0; k < 3; ++k) pooled += data.problem.weight[k] * data.s[k] / data.problem.weight.sum();
  const GlassoResult one = glasso(pooled, Penalty::scalar(3 * 1.5 / data.problem.weight.sum(), false), options, monitor);
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR((dense(fused.state, k) - MatrixXd(symmetric_from_upper(one.state.upper))).cwiseAbs().maxCoeff(), 0, 1e-8);
  }
}

TEST("multi: screening is exact, and edges begin at the largest weight") {
  Rng rng(7);
  for (const MultiNorm norm : norms) {
    Data data(3, 12, 30, rng);
    data.problem.off = {norm, norm == MultiNorm::fused ? 1.0 : 0.0, 1.0};
    const double top = largest_entry_weight(data.problem);
    for (const double share : {1.01, 0.99, 0.7, 0.4}) {
      MultiProblem problem = data.problem;
      problem.off = data.problem.off.scaled(share * top);
      const MultiResult screened = fit(problem, MultiMethod::newton, 1e-11),
                        whole = fit(problem, MultiMethod::newton, 1e-11, 1, false);
      CHECK_NEAR(distance(screened, whole), 0, 1e-8);
      const bool empty = screened.state.pattern.nonZeros() == 12;
      CHECK(empty == (share > 1));
      // components of the union of the solutions
      MatrixXd reach = MatrixXd::Identity(12, 12);
      for (int k = 0; k < 3; ++k) reach += dense(whole.state, k).cwiseAbs();
      for (int step = 0; step < 5; ++step) {
        const MatrixXd squared = reach * reach;
        reach = squared.unaryExpr([](double v) { return v > 0 ? 1.0 : 0.0; });
      }
      for (const auto& members : screened.components) {
        for (Index j = 0; j < 12; ++j) {
          const bool inside = std::find(members.begin(), members.end(), static_cast<int>(j)) != members.end();
          CHECK(inside == (reach(members[0], j) > 0));
        }
      }
    }
  }
}

TEST("multi: scale, order of tasks, threads") {
  Rng rng(8);
  for (const MultiNorm norm : norms) {
    Data data(3, 9, 12, rng);
    data.problem.off = {norm, 0.5, 1.0};
    const MultiResult base = fit(data.problem);
    MultiProblem heavier = data.problem;
    heavier.weight *= 1e6;
    heavier.off = data.problem.off.scaled(1e6);
    CHECK_NEAR(distance(base, fit(heavier)), 0, 1e-8);
    for (const double scale : {1e-8, 1e8}) {  // S -> scale S, penalty -> scale penalty, X -> X / scale
      Data other(data.s);
      for (MatrixXd& s : other.s) s *= scale;
      other.view();
      other.problem.weight = data.problem.weight;
      other.problem.off = data.problem.off.scaled(scale);
      const MultiResult result = fit(other.problem);
      CHECK(result.convergence.converged);
      CHECK_NEAR((scale * dense(result.state, 1) - dense(base.state, 1)).cwiseAbs().maxCoeff(), 0, 1e-7);
    }
    MultiProblem turned = data.problem;
    turned.s.clear();
    for (const int k : {2, 0, 1}) turned.s.push_back(data.problem.s[k]);
    turned.weight = vector_of({data.problem.weight[2], data.problem.weight[0], data.problem.weight[1]});
    CHECK_NEAR((dense(fit(turned).state, 0) - dense(base.state, 2)).cwiseAbs().maxCoeff(), 0, 1e-8);
    const MultiResult two = fit(data.problem, MultiMethod::newton, 1e-9, 2);
    CHECK(distance(base, two) == 0);
  }
}

TEST("multi: errors say what is wrong, and a path ends where single fits end") {
  Rng rng(9);
  Data data(2, 6, 3, rng);
  data.problem.off = {MultiNorm::l2, 0, 1};
  data.problem.weight[1] = 0;
  CHECK_THROWS(fit(data.problem), InputError);
  data.problem.weight[1] = 2;
  data.s[1](2, 2) = 0;
  CHECK_THROWS(fit(data.problem), InputError);
  data.problem.diagonal = data.problem.off;
  Data good(2, 6, 10, rng);
  const MultiPath penalties{MultiNorm::linf, {3.0, 1.5, 0.5}, {0, 0, 0}, false};
  Monitor monitor;
  MultiOptions options;
  options.tol = 1e-10;
  const auto path = multi_path(good.problem, penalties, options, monitor);
  CHECK(path.size() == 3 && path[0].state.w.empty() && path[2].state.w.empty());
  good.problem.off = penalties.off(2);
  CHECK_NEAR(distance(path[2], fit(good.problem, MultiMethod::newton, 1e-10)), 0, 1e-8);
  std::vector<SparseMatrix> precision;
  for (int k = 0; k < 2; ++k) precision.push_back(dense(path[2].state, k).sparseView());
  const MultiResult certificate = multi_certificate(good.problem, precision, monitor);
  CHECK_NEAR(certificate.objective, path[2].objective, 1e-10 * std::abs(path[2].objective));
  CHECK_NEAR(certificate.convergence.gap, 0, 1e-8);
}
