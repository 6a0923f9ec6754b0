// Ensembles trained together: parts of the error, gradients, exact solutions against each other, training, what they are compared
// with.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/linalg/dense.h"
#include "ensemble/diversity.h"
#include "ensemble/nc_baseline.h"
#include "ensemble/nc_training.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

MatrixXd normal_matrix(Rng& rng, Index n, Index p) {
  MatrixXd x(n, p);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  return x;
}

struct Curve {
  MatrixXd x;
  VectorXd y;
  explicit Curve(std::uint64_t seed, Index n = 60, Index p = 3) {
    Rng rng(seed);
    x = normal_matrix(rng, n, p);
    y = (2 * x.col(0).array()).sin() + 0.5 * x.col(1).array().square() + 0.1 * rng.normals(n).array();
  }
};

NcOptions features(double lambda, int members = 4, int size = 6) {
  NcOptions o;
  o.learner = MemberKind::features;
  o.optimizer = NcOptimizer::exact;
  o.n_members = members;
  o.size = size;
  o.lambda = lambda;
  o.decay = 1e-3;
  o.validation = 0;
  return o;
}

NcResult fit(const Curve& c, const NcOptions& o, std::uint64_t seed = 5) {
  Rng rng(seed);
  Monitor monitor;
  return nc_ensemble(c.x, c.y, VectorXd(), o, rng, monitor);
}

double largest(const MatrixXd& a) { return a.cwiseAbs().maxCoeff(); }

}  // namespace

TEST("the ambiguity decomposition holds in every row, for any weights") {
  Rng rng(1);
  Monitor monitor;
  for (int k = 0; k < 5; ++k) {
    const Index m = 1 + k;
    const MatrixXd f = normal_matrix(rng, 20, m);
    const VectorXd y = rng.normals(20);
    VectorXd c(m);
    for (Index i = 0; i < m; ++i) c[i] = rng.uniform();
    const AmbiguityResult found = ambiguity(f, y, c, monitor);
    CHECK(largest(found.error - (found.member_error - found.ambiguity)) < 1e-12);
    CHECK(largest(found.prediction - f * c / c.sum()) < 1e-12);
    CHECK((found.ambiguity.array() >= 0).all());
    for (Index i = 0; i < m; ++i) CHECK_NEAR(found.by_member_error[i], (f.col(i) - y).squaredNorm() / 20, 1e-12);
    CHECK(largest(found.correlation - found.correlation.transpose()) == 0);
  }
  MatrixXd same = MatrixXd::Ones(4, 2);
  const AmbiguityResult flat = ambiguity(same, VectorXd::Ones(4), VectorXd(), monitor);
  CHECK(std::isnan(flat.correlation(0, 1)) && flat.error.maxCoeff() == 0);
  CHECK_THROWS(ambiguity(same, VectorXd::Ones(3), VectorXd(), monitor), InputError);
  CHECK_THROWS(ambiguity(same, VectorXd::Ones(4), VectorXd::Constant(2, -1), monitor), InputError);
}

TEST("bias, variance and covariance add up, as do Omega and the ambiguity") {
  Rng rng(2);
  Monitor monitor;
  for (const Index m : {1, 2, 5}) {
    const Index repetitions = 7, points = 9;
    const MatrixXd f = normal_matrix(rng, repetitions * m, points);
    const VectorXd t = rng.normals(points);
    const VarianceResult r = variances(f, repetitions, t, monitor);
    const double count = static_cast<double>(m);
    for (Index p = 0; p < points; ++p) {
      const double joint = m > 1 ? (1 - 1 / count) * r.covariance[p] : 0, sum = r.variance[p] / count + joint;
      CHECK_NEAR(r.error[p], r.bias[p] * r.bias[p] + sum, 1e-12);
      CHECK_NEAR(r.member_error[p], r.bias[p] * r.bias[p] + r.omega[p], 1e-12);
      CHECK_NEAR(r.ambiguity[p], r.omega[p] - sum, 1e-12);
      CHECK(std::isnan(r.covariance[p]) == (m == 1));
    }
    // by the definition, one pair after the other
    if (m == 2) {
      const VectorXd a = f.col(0).head(repetitions), b = f.col(0).tail(repetitions);
      CHECK_NEAR(r.covariance[0], ((a.array() - a.mean()) * (b.array() - b.mean())).mean(), 1e-12);
    }
  }
  CHECK_THROWS(variances(normal_matrix(rng, 7, 3), 2, VectorXd::Zero(3), monitor), InputError);
}

TEST("the parts of the gradient are those of Appendix C and of the objective") {
  MatrixXd f(1, 5);
  f << 8, 1, 2, 2, 2;  // mean 3
  const VectorXd t = VectorXd::Constant(1, 4);
  for (const double gamma : {0.4, 0.6}) CHECK_NEAR(gradient_parts(f, t, 2 * gamma * 0.8).nc(0, 0), 4 - 8 * gamma, 1e-12);
  Rng rng(3);
  MatrixXd g = normal_matrix(rng, 6, 4);
  const VectorXd y = rng.normals(6);
  const GradientParts parts = gradient_parts(g, y, 0.7);
  CHECK(largest(parts.c + parts.d) < 1e-14);
  CHECK(largest(parts.whole - (parts.a - parts.b) / 4) < 1e-14);
  for (Index i = 0; i < g.size(); ++i) {
    const double h = 1e-5, was = g.data()[i];
    g.data()[i] = was + h;
    const double up = nc_objective(g, y, 0.7);
    g.data()[i] = was - h;
    const double down = nc_objective(g, y, 0.7);
    g.data()[i] = was;
    CHECK_NEAR((up - down) / (2 * h), parts.nc.data()[i] / 24, 1e-8);  // over rows and members
  }
}

TEST("members' gradients are the derivatives of their values, and one row's step follows them") {
  Rng rng(4);
  const MatrixXd x = normal_matrix(rng, 3, 8);  // inputs x rows
  std::vector<MemberShape> shapes = {{MemberKind::mlp, MemberBasis::fourier, 3, 4}, {MemberKind::rbf, MemberBasis::fourier, 3, 5}};
  for (const MemberBasis basis : {MemberBasis::fourier, MemberBasis::rbf, MemberBasis::columns}) shapes.push_back({MemberKind::features, basis, 3, 2});
  for (const MemberShape& shape : shapes) {
    VectorXd w(shape.weights()), fixed(shape.fixed());
    start_member(shape, x, 1, rng, w, fixed);
    MemberPass pass;
    member_values(shape, x, w, fixed, pass);
    const VectorXd g = rng.normals(8);
    VectorXd gradient(w.size());
    member_gradient(shape, x, w, pass, g, gradient);
    for (Index i = 0; i < w.size(); ++i) {
      VectorXd up = w, down = w;
      up[i] += 1e-6;
      down[i] -= 1e-6;
      MemberPass one, two;
      member_values(shape, x, up, fixed, one);
      member_values(shape, x, down, fixed, two);
      CHECK_NEAR(g.dot(one.values - two.values) / 2e-6, gradient[i], 1e-7);
    }
    const MatrixXd phi = shape.kind == MemberKind::features ? member_features(shape, x, fixed) : MatrixXd();
    RowMember row(shape);
    for (Index n = 0; n < 8; ++n) {
      VectorXd only = VectorXd::Zero(8), moved = w;
      only[n] = 0.3;
      member_gradient(shape, x, w, pass, only, gradient);
      CHECK_NEAR(row.value(x.col(n).data(), phi.size() > 0 ? phi.col(n).data() : nullptr, w.data()), pass.values[n], 1e-12);
      row.step(x.col(n).data(), 0.3, moved.data());
      CHECK(largest(moved - (w - gradient)) < 1e-12);
    }
  }
}

TEST("four ways to solve members with fixed features agree") {
  const Curve c(1);
  Monitor monitor;
  for (const double lambda : {0.0, 0.5, 0.9, 1.0}) {
    const NcOptions o = features(lambda);
    Rng rng(5);
    NcTrainer trainer(c.x, c.y, VectorXd(), o, o.n_members, rng);
    std::vector<MatrixXd> phi;
    for (Index i = 0; i < 4; ++i) phi.push_back(trainer.features(i));
    const CoupledFeatures f = coupled_features(phi, trainer.target(), trainer.row_weights());
    const Coupling coupling = coupling_of(o.penalty, lambda, 4);
    const CoupledFit primal = solve_coupled(f, coupling, 0.06, CoupledSolver::primal, 1e-10, 1000, monitor);
    CHECK(primal.convergence.converged && primal.determined);
    for (const CoupledSolver solver : {CoupledSolver::dual, CoupledSolver::sweeps}) {
      const CoupledFit other = solve_coupled(f, coupling, 0.06, solver, 1e-11, 20000, monitor);
      CHECK(other.convergence.converged);
      CHECK(largest(primal.weights - other.weights) < 1e-6 * largest(primal.weights));
    }
    NcOptions by_steps = o;
    by_steps.optimizer = NcOptimizer::lbfgs;
    by_steps.tol = 1e-9;
    by_steps.max_iter = 5000;
    MatrixXd apart = fit(c, o).members - fit(c, by_steps).members;
    if (lambda == 1) apart.rowwise() -= apart.row(0).eval();  // only the sum of the constants is determined
    CHECK(largest(apart) < 1e-4);
    CHECK(largest(fit(c, o).members.rowwise().mean() - fit(c, by_steps).members.rowwise().mean()) < 1e-4);
  }
  NcOptions sgd = features(0.5), exact = sgd;
  sgd.optimizer = NcOptimizer::sgd;
  sgd.rate = 0.002;
  sgd.max_iter = 20000;
  sgd.every = 1000;
  CHECK(largest(fit(c, exact).members - fit(c, sgd).members) < 0.03);  // a fixed rate circles about the answer
}

TEST("lambda = 0 is a ridge for each member, lambda = 1 least squares on all columns") {
  const Curve c(2, 80);
  NcOptions o = features(0);
  o.decay = 0;
  for (const double lambda : {0.0, 1.0}) {
    o.lambda = lambda;
    const NcResult found = fit(c, o);
    Rng rng(5);
    const NcTrainer trainer(c.x, c.y, VectorXd(), o, o.n_members, rng);
    MatrixXd all(80, 1 + 24);
    all.col(0).setOnes();
    for (Index i = 0; i < 4; ++i) all.middleCols(1 + 6 * i, 6) = trainer.features(i).transpose();
    if (lambda == 1) {
      const VectorXd fitted = all * PivotedQr(all).solve(c.y);
      CHECK(largest(found.members.rowwise().mean() - fitted) < 1e-6);
      continue;
    }
    for (Index i = 0; i < 4; ++i) {
      MatrixXd own(80, 7);
      own.col(0).setOnes();
      own.rightCols(6) = all.middleCols(1 + 6 * i, 6);
      CHECK(largest(found.members.col(i) - own * Qr(own).solve(c.y)) < 1e-7);
    }
  }
}

TEST("in lambda the error of the ensemble falls on the rows trained on, and that of its members rises") {
  const Curve c(3);
  Monitor monitor;
  NcOptions o = features(0, 5, 3);
  o.decay = 0;
  double ensemble = 1e300, member = -1;
  for (int k = 0; k <= 10; ++k) {
    o.lambda = k / 10.0;
    const AmbiguityResult parts = ambiguity(fit(c, o).members, c.y, VectorXd(), monitor);
    CHECK(parts.error.mean() <= ensemble * (1 + 1e-9));
    CHECK(parts.member_error.mean() >= member * (1 - 1e-9));
    ensemble = parts.error.mean();
    member = parts.member_error.mean();
  }
}

TEST("rows left out by the hat matrix are rows left out") {
  const Curve c(4, 25);
  Monitor monitor;
  Rng rng(6);
  VectorXd w(25);
  for (Index i = 0; i < 25; ++i) w[i] = rng.uniform(0.5, 2);
  for (const double lambda : {0.0, 0.6, 1.0})
    for (const bool weighted : {false, true}) {
      std::vector<MatrixXd> phi;
      for (int i = 0; i < 3; ++i) phi.push_back(normal_matrix(rng, 4, 25));
      const VectorXd weights = weighted ? w : VectorXd::Ones(25);
      const Coupling coupling = coupling_of(NcPenalty::mean, lambda, 3);
      const CoupledFeatures f = coupled_features(phi, c.y, weights);
      const VectorXd quick = coupled_left_out(f, solve_coupled(f, coupling, 0.3, CoupledSolver::primal, 1e-10, 100, monitor), coupling, 0.3, monitor);
      for (Index out = 0; out < 25; out += 6) {
        std::vector<MatrixXd> less;
        VectorXd t(24), v(24);
        for (const MatrixXd& p : phi) {
          MatrixXd rest(4, 24);
          rest << p.leftCols(out), p.rightCols(24 - out);
          less.push_back(rest);
        }
        t << c.y.head(out), c.y.tail(24 - out);
        v << weights.head(out), weights.tail(24 - out);
        const CoupledFit refit = solve_coupled(coupled_features(less, t, v), coupling, 0.3, CoupledSolver::primal, 1e-10, 100, monitor);
        double mean = 0;
        for (int i = 0; i < 3; ++i) mean += (refit.constants[i] + phi[static_cast<std::size_t>(i)].col(out).dot(refit.weights.col(i))) / 3;
        CHECK_NEAR(quick[out], mean, 1e-8);
      }
    }
}

TEST("the target penalty is the same family, and the sequential one least squares for moved targets") {
  const Curve c(5);
  NcOptions o = features(0.3);
  o.penalty = NcPenalty::target;
  const NcResult target = fit(c, o);
  NcOptions same = features(0.3 * 4 / (1 + 0.3 * 3));
  same.decay = o.decay / (1 + 0.3 * 3);
  CHECK(largest(target.members - fit(c, same).members) < 1e-9);

  o.penalty = NcPenalty::sequential;
  const NcResult seq = fit(c, o);
  NcOptions alone = features(0);
  VectorXd over = VectorXd::Zero(60);
  for (Index i = 0; i < 4; ++i) {
    Rng rng(5);
    Monitor monitor;
    const NcTrainer trainer(c.x, c.y, VectorXd(), alone, 4, rng);
    const VectorXd moved = trainer.target() - 0.3 * over;
    const CoupledFit one = solve_coupled(coupled_features({trainer.features(i)}, moved, trainer.row_weights()), {1, 0}, 0.06, CoupledSolver::primal, 1e-10, 1, monitor);
    const VectorXd values = (trainer.features(i).transpose() * one.weights.col(0)).array() + one.constants[0];
    CHECK(largest((values.array() / seq.model.y_scale + seq.model.y_low).matrix() - seq.members.col(i)) < 1e-9);
    over += values - trainer.target();
  }
}

TEST("without coupling members are what they would be alone, bit for bit, on any number of threads") {
  const Curve c(6);
  Monitor monitor;
  for (const NcOptimizer optimizer : {NcOptimizer::lbfgs, NcOptimizer::sgd})
    for (const MemberKind kind : {MemberKind::mlp, MemberKind::rbf}) {
      NcOptions o;
      o.learner = kind;
      o.optimizer = optimizer;
      o.n_members = 3;
      o.lambda = 0;
      o.validation = 0;
      o.max_iter = 30;
      const NcResult together = fit(c, o);
      Rng rng(5);
      NcTrainer trainer(c.x, c.y, VectorXd(), o, 3, rng);
      for (Index i = 0; i < 3; ++i) trainer.train(trainer.alone(i), o.penalty, 0, monitor);
      CHECK((trainer.model().weights.array() == together.model.weights.array()).all());
      o.lambda = 0.8;
      o.threads = 1;
      const NcResult one = fit(c, o);
      o.threads = 2;
      CHECK((fit(c, o).members.array() == one.members.array()).all());
      CHECK(!(one.members.array() == together.members.array()).all());
    }
}

TEST("training lowers the objective and held-out rows choose the weights") {
  const Curve c(7, 200);
  for (const MemberKind kind : {MemberKind::mlp, MemberKind::rbf}) {
    NcOptions o;
    o.learner = kind;
    o.n_members = 4;
    o.lambda = 0.75;
    const NcResult found = fit(c, o);
    CHECK(found.held.size() == 50);
    double least = 1e300, at_answer = 0;
    for (const NcTrace& t : found.trace) least = std::min(least, t.valid);
    for (const Index i : found.held) at_answer += std::pow(found.members.row(i).mean() - c.y[i], 2) / 50;
    CHECK_NEAR(at_answer, least, 1e-9 * least);
    CHECK(found.trace.back().train < 0.3 * found.trace.front().train);
    o.validation = 0;
    o.max_iter = 20000;
    o.decay = 1e-3;
    o.tol = 1e-4;
    const NcResult whole = fit(c, o);
    CHECK(whole.convergence.converged && whole.convergence.residual < 2e-4);
    o.anneal = 0.3;
    CHECK(fit(c, o).convergence.converged);
    o.optimizer = NcOptimizer::sgd;
    o.max_iter = 100;
    o.shuffle = true;
    const NcResult slow = fit(c, o);
    CHECK(slow.trace.back().train < slow.trace.front().train);
    CHECK(slow.convergence.converged || slow.convergence.reason == Stop::approximate);
  }
}

TEST("beyond lambda = 1 the objective falls without end, and that is said") {
  const Curve c(8, 40);
  NcOptions o;
  o.n_members = 4;
  o.lambda = 1.3;
  o.validation = 0;
  o.max_iter = 100000;
  const NcResult lost = fit(c, o);
  CHECK(lost.diverged && !lost.convergence.converged && lost.convergence.reason == Stop::unbounded);
  CHECK(lost.members.allFinite());
  o.optimizer = NcOptimizer::sgd;
  o.max_iter = 3000;
  const NcResult row_by_row = fit(c, o);
  CHECK(row_by_row.diverged && row_by_row.members.allFinite());
  o.lambda = 1.4;
  CHECK_THROWS(fit(c, o), InputError);  // above M / (M - 1)
  CHECK_THROWS(fit(c, features(1.1)), InputError);
  NcOptions one = features(0.5, 1);
  CHECK_THROWS(fit(c, one), InputError);
  NcOptions net;
  net.optimizer = NcOptimizer::exact;
  CHECK_THROWS(fit(c, net), InputError);
}

TEST("constant columns, one row, constant responses and extreme units do no harm") {
  Curve c(9, 30);
  const NcOptions o = features(0.7);
  const MatrixXd plain = fit(c, o).members;
  Curve scaled = c;
  scaled.x *= 1e8;
  scaled.y *= 1e-8;
  CHECK(largest(fit(scaled, o).members * 1e8 - plain) < 1e-6);
  Curve wide(9, 30, 4);
  wide.x.col(3).setConstant(7);
  CHECK(fit(wide, o).members.allFinite());
  wide.y.setConstant(2);
  CHECK(largest(fit(wide, o).members.array() - 2) < 1e-9);
  NcOptions net;
  net.n_members = 2;
  net.max_iter = 50;
  CHECK(fit(wide, net).members.allFinite());
  Curve single(9, 1);
  const NcResult one = fit(single, net);
  CHECK(one.too_few && one.members.allFinite());
}

TEST("an ensemble without a ridge on overlapping features has the shortest weights and says so") {
  const Curve c(10, 12);
  NcOptions o = features(1, 4, 6);  // 24 columns, 12 rows
  o.decay = 0;
  const NcResult found = fit(c, o);
  CHECK(!found.determined && found.convergence.converged && !found.convergence.message.empty());
  CHECK(largest(found.members.rowwise().mean() - c.y) < 1e-5);
}

TEST("weighted medians are the smallest values with half of the vote") {
  MatrixXd f(2, 3);
  f << 3, 1, 2, 5, 5, 4;
  VectorXd vote(3);
  vote << 1, 1, 1;
  CHECK_NEAR(weighted_medians(f, vote)[0], 2, 0);
  CHECK_NEAR(weighted_medians(f, vote)[1], 5, 0);
  vote << 5, 1, 1;
  CHECK_NEAR(weighted_medians(f, vote)[0], 3, 0);
  vote << 1, 2, 1;
  CHECK_NEAR(weighted_medians(f, vote)[0], 1, 0);  // half at once
  CHECK_THROWS(weighted_medians(f, VectorXd::Ones(2)), InputError);
}

TEST("bagging and AdaBoost.R2 learn, of networks, of features and of trees") {
  const Curve c(11, 150);
  const double naive = (c.y.array() - c.y.mean()).square().mean();
  for (const BaselineMethod method : {BaselineMethod::bagging, BaselineMethod::boosting})
    for (int kind = 0; kind < 3; ++kind) {
      BaselineOptions o;
      o.method = method;
      o.trees = kind == 0;
      o.member = features(0, 8, 12);
      if (kind == 2) {
        o.member = NcOptions();
        o.member.n_members = 4;
        o.member.lambda = 0;
        o.member.max_iter = 200;
      }
      const auto run = [&](int threads) {
        o.member.threads = threads;
        Rng rng(7);
        Monitor monitor;
        return nc_baseline(c.x, c.y, VectorXd(), o, rng, monitor);
      };
      const BaselineResult found = run(1);
      CHECK(found.vote.size() == found.members.cols() && (found.vote.array() > 0).all());
      const VectorXd answer = method == BaselineMethod::boosting ? weighted_medians(found.members, found.vote) : VectorXd(found.members.rowwise().mean());
      CHECK((answer - c.y).squaredNorm() / 150 < 0.6 * naive);
      CHECK((run(2).members.array() == found.members.array()).all());
      for (const double loss : found.losses) CHECK(loss >= 0 && loss < 0.5);
    }
}

TEST("AdaBoost.R2 stops at a perfect member and at a weak one") {
  Monitor monitor;
  MatrixXd x(8, 1);
  VectorXd y(8);
  for (Index i = 0; i < 8; ++i) x(i, 0) = y[i] = i < 4 ? 0 : 1;
  BaselineOptions o;
  o.method = BaselineMethod::boosting;
  o.trees = true;
  Rng rng(1);
  const BaselineResult perfect = nc_baseline(x, y, VectorXd(), o, rng, monitor);
  CHECK(perfect.end == BaselineEnd::perfect && largest(weighted_medians(perfect.members, perfect.vote) - y) == 0);
  x.setZero();
  y << 0, 1, 0, 1, 0, 1, 0, 1;  // nothing to go by
  const BaselineResult weak = nc_baseline(x, y, VectorXd(), o, rng, monitor);
  CHECK(weak.end == BaselineEnd::weak && weak.vote.size() >= 1);
}
