#include "eigen.h"
#include <cmath>
#include <vector>

#include "core/linalg/spectral_norm.h"
#include "core/random/rng.h"
#include "graph/baselines.h"
#include "graph/causal_dag.h"
#include "graph/constraint_search.h"
#include "graph/glasso.h"
#include "graph/hub_path.h"
#include "graph/model_distance.h"
#include "graph/model_distance_windows.h"
#include "graph/multi_baseline.h"
#include "graph/neighbourhood.h"
#include "graph/nodes.h"
#include "graph/pdag_score.h"
#include "graph/precision_loss.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

MatrixXd covariance(Index p, Index n, Rng& rng) {
  MatrixXd x(n, p);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) x(i, j) = rng.normal() + (j > 0 ? 0.6 * x(i, j - 1) : 0);
  }
  return x.transpose() * x / static_cast<double>(n);
}

}  // namespace

TEST("paths: a penalty is a number, a vector or a matrix by its size") {
  const VectorXd one = VectorXd::Constant(1, 0.5);
  CHECK(Penalty::of(one, 3, true).is_scalar());
  const VectorXd three = VectorXd::Constant(3, 4.0);
  CHECK_NEAR(Penalty::of(three, 3, true)(0, 1), 4, 1e-15);
  const MatrixXd nine = MatrixXd::Constant(3, 3, 2.0);
  CHECK_NEAR(Penalty::of(VectorView(nine.data(), 9), 3, false)(1, 2), 2, 0);
  CHECK_NEAR(Penalty::of(VectorView(nine.data(), 9), 3, false)(1, 1), 0, 0);
  CHECK_THROWS(Penalty::of(VectorXd::Ones(2), 3, true), InputError);
  const std::vector<double> path = geometric_path(2, 0.01, 3);
  CHECK_NEAR(path[0], 2, 1e-15);
  CHECK_NEAR(path[1], 0.2, 1e-12);
  CHECK_NEAR(path[2], 0.02, 1e-12);
}

TEST("paths: a nearly singular covariance at a small penalty is solved from afar, and its gap says so") {
  Rng rng(4);
  const Index p = 12;
  const MatrixXd s = covariance(p, 13, rng);
  Monitor monitor;
  GlassoOptions options;
  for (const double lambda : {1e-2, 1e-3, 1e-4}) {
    const GlassoResult cold = glasso(s, Penalty::scalar(lambda), options, monitor);
    CHECK(cold.convergence.converged);
    CHECK(cold.convergence.gap <= options.tol * static_cast<double>(p));
    const auto path = glasso_path(s, Penalty::scalar(1), geometric_path(1, lambda, 30), options, monitor);
    CHECK_NEAR(cold.objective, path.back().objective, 1e-5 * static_cast<double>(p));
  }
}

TEST("paths: the default path of few nodes starts where the graph is just empty") {
  Rng rng(5);
  const MatrixXd s = covariance(8, 30, rng);
  Monitor monitor;
  const NodesPath path = default_path(s, {RowNorm::l2, 5, 0.1}, [](double rho) { return 10 * rho; });
  CHECK(path.rho.size() == 5 && path.tau.size() == 5);
  CHECK_NEAR(path.tau[2], 10 * path.rho[2], 1e-12);
  const auto fits = nodes_path(s, {{path.rho[0] * 1.001, path.rho[0] * 0.9}, {path.tau[0] * 1.001, path.tau[0] * 0.9}, RowNorm::l2}, {}, monitor);
  CHECK(fits[0].upper.nonZeros() == 8);
  NodesOptions short_path;
  short_path.max_degree = 0;
  const auto cut = nodes_path(s, path, short_path, monitor);
  CHECK(cut.size() < 5 && cut.back().upper.nonZeros() > 8);
}

TEST("paths: few nodes do not depend on units") {
  Rng rng(6);
  Monitor monitor;
  const MatrixXd s = covariance(7, 30, rng);
  const NodesResult plain = nodes_fit(s, {0.05, 0.3, RowNorm::l2}, {}, monitor);
  const NodesResult large = nodes_fit(1e12 * s, {0.05e12, 0.3e12, RowNorm::l2}, {}, monitor);
  CHECK(plain.convergence.converged && large.convergence.converged);
  CHECK_NEAR((1e12 * MatrixXd(large.upper) - MatrixXd(plain.upper)).cwiseAbs().maxCoeff(), 0, 1e-4);
}

TEST("paths: baselines of several tasks") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd a = covariance(5, 40, rng), b = covariance(5, 30, rng);
  MultiProblem problem;
  for (const MatrixXd* s : {&a, &b}) problem.s.emplace_back(s->data(), s->rows(), s->cols());
  problem.weight = Eigen::Vector2d(40, 30);
  for (const MultiBaseline method : {MultiBaseline::separate, MultiBaseline::pooled, MultiBaseline::ridge, MultiBaseline::irls,
                                     MultiBaseline::hierarchical}) {
    const auto lambda = multi_baseline_path(problem, {method, 3, 0.2});
    const auto fits = multi_baseline(problem, lambda, {method, 1e-7, 200, 1}, monitor);
    CHECK(fits.size() == 3 && fits[2].state.values.rows() == 2);
    if (method != MultiBaseline::ridge) CHECK(fits[0].state.pattern.nonZeros() <= 6);
  }
  const MultiResult ridge = multi_baseline(problem, {2.0}, {MultiBaseline::ridge, 1e-6, 1, 1}, monitor)[0];
  const MatrixXd expected = (a + MatrixXd(MatrixXd::Identity(5, 5) * (2.0 / 40))).inverse();
  CHECK_NEAR(ridge.state.values(0, 0), expected(0, 0), 1e-9);
}

TEST("paths: neighbourhoods with a refit chosen by whether the covariance is definite") {
  Rng rng(8);
  Monitor monitor;
  CHECK_NEAR(neighbour_path(covariance(4, 40, rng), {0.1}, {}, monitor)[0].refit, 0, 0);
  CHECK_NEAR(neighbour_path(covariance(6, 4, rng), {0.1}, {}, monitor)[0].refit, 0.01, 0);
}

TEST("paths: hubs along lambda2, and the deviance of a covariance") {
  Rng rng(9);
  Monitor monitor;
  const MatrixXd s = covariance(5, 40, rng);
  HubPathOptions options;
  options.lambda1 = 0.2;
  options.lambda2 = {0.3, 0.2};
  options.lambda3 = 0.4;
  const auto path = hub_path(s, options, monitor, {});
  CHECK(path.size() == 2 && path[1].convergence.converged);
  CHECK_NEAR(path[1].deviance, path[1].loss, 0);
  options.model = HubModelKind::covariance;
  const HubResult covariances = hub_path(s, options, monitor, {})[1];
  const MatrixXd sigma = covariances.state.theta;
  CHECK_NEAR(covariances.deviance, std::log(sigma.determinant()) + (sigma.inverse() * s).trace(), 1e-8);
}

TEST("paths: the score of a graph is that of any DAG of its class, and there is none without one") {
  MatrixXd s(3, 3);
  s << 1, 0.5, 0.25, 0.5, 1, 0.5, 0.25, 0.5, 1;
  MixedGraph chain(3), dag(3);
  chain.add_undirected(0, 1);
  chain.add_undirected(1, 2);
  dag.add_directed(0, 1);
  dag.add_directed(1, 2);
  const PdagScore a = score_pdag(chain, s, {100, ParameterCount::edges}), b = score_pdag(dag, s, {100, ParameterCount::edges});
  CHECK(a.extendable);
  CHECK_NEAR(a.score, b.score, 1e-9);
  CHECK_NEAR(a.parameters, 8, 0);
  CHECK_NEAR(score_pdag(dag, s, {100, ParameterCount::covariance}).parameters, 9, 0);
  MixedGraph square(4);  // a chordless cycle belongs to no DAG
  square.add_undirected(0, 1);
  square.add_undirected(1, 2);
  square.add_undirected(2, 3);
  square.add_undirected(0, 3);
  CHECK(!score_pdag(square, MatrixXd::Identity(4, 4), {50, ParameterCount::edges}).extendable);
}

TEST("paths: distances of models as they are given") {
  Monitor monitor;
  Rng rng(10);
  ModelSpec p, q;
  p.mean = q.mean = VectorXd::Zero(2);
  p.matrix = MatrixXd::Identity(2, 2);
  q.matrix = 2 * MatrixXd::Identity(2, 2);
  const double kl = 0.5 * (std::log(4.0) + 1 - 2);
  CHECK_NEAR(model_distance(p, q, {Divergence::kl, true, 10}, rng, monitor).value, kl, 1e-12);
  const ModelDistance error = model_distance(p, q, {Divergence::bayes_error, true, 20000}, rng, monitor);
  CHECK(!error.exact && error.bracket && error.value > error.bracket->first - 4 * error.se && error.value < error.bracket->second + 4 * error.se);
  q.kind = ModelKind::ising;
  CHECK_THROWS(model_distance(p, q, {}, rng, monitor), InputError);
}

TEST("paths: windows fall into their two states") {
  Rng rng(11);
  Monitor monitor;
  MatrixXd features(20, 3);
  for (Index i = 0; i < 20; ++i) features.row(i) << (i < 10 ? 5 : -5) + 0.1 * rng.normal(), rng.normal(), rng.normal();
  const WindowClusters found = cluster_windows(features, {2, 2, 5}, rng, monitor);
  for (std::size_t i = 0; i < 20; ++i) CHECK(found.cluster[i] == (i < 10 ? 0 : 1));
  CHECK(found.explained > 0.8 && found.scores.cols() == 2);
}

TEST("paths: losses, ranges and inverses") {
  MatrixXd t(2, 2);
  t << 2, 1, 1, 2;
  CHECK_NEAR(precision_loss(t, t).kl, 0, 1e-14);
  CHECK_NEAR(precision_loss(t, 2 * t).frobenius, 1, 1e-14);
  CHECK(std::isnan(precision_loss(t, -t).kl));
  CHECK_NEAR(eigenvalue_range(t).smallest, 1, 1e-12);
  CHECK_NEAR(eigenvalue_range(t).largest, 3, 1e-12);
  CHECK(!definite_inverse(-t));
  CHECK_NEAR((*definite_inverse(t) * t - MatrixXd::Identity(2, 2)).norm(), 0, 1e-12);
  const auto fits = baselines(t, {BaselineType::independent, {0}, true});
  CHECK_NEAR(fits[0].objective, 2 * std::log(2.0) + 2, 1e-12);
}

TEST("paths: a causal DAG from its covariance, pruned and refused where it is too wide") {
  Rng rng(12);
  Monitor monitor;
  MatrixXd b = MatrixXd::Zero(3, 3);
  b(0, 1) = 0.8;
  b(1, 2) = -0.7;
  const MatrixXd total = total_effects(b), g = total.transpose() * total;
  SpaceSpec all{Eigen::MatrixXi::Ones(3, 3) - Eigen::MatrixXi(Eigen::MatrixXi::Identity(3, 3)), Eigen::MatrixXi::Zero(3, 3), {}};
  CausalDagOptions options;
  options.weights = VectorXd::Ones(3);
  options.n = 500;
  options.penalty_rule = DagPenalty::ebic;
  const CausalDagResult found = causal_dag(g, make_space(all), options, rng, monitor);
  CHECK(found.found.exact && found.parents[1] == std::vector<int>{0} && found.parents[2] == std::vector<int>{1});
  CHECK_NEAR(found.fit.arcs[0].coefficient, 0.8, 1e-10);
  const Index p = 50;
  SpaceSpec wide{Eigen::MatrixXi::Ones(p, p) - Eigen::MatrixXi(Eigen::MatrixXi::Identity(p, p)), Eigen::MatrixXi::Zero(p, p), {}};
  options.weights = VectorXd::Ones(p);
  options.search = DagSearch::subset;
  CHECK_THROWS(causal_dag(MatrixXd::Identity(p, p), make_space(wide), options, rng, monitor), InputError);
}

TEST("paths: knowledge and limits of a search as they are given") {
  Monitor monitor;
  KnowledgeSpec known;
  known.required.resize(1, 2);
  known.required << 0, 1;
  const Knowledge made = make_knowledge(known, 3);
  CHECK(made.requires_arrow(0, 1) && !made.requires_arrow(1, 0));
  known.required << 0, 7;
  CHECK_THROWS(make_knowledge(known, 3), InputError);
  TestSpec spec;
  spec.kind = TestKind::oracle;
  spec.graph = MixedGraph(3);
  spec.graph.add_directed(0, 2);
  spec.graph.add_directed(1, 2);
  spec.observed = {0, 1, 2};
  const ConstraintReport found = constraint_search(spec, {}, {}, monitor);
  CHECK(found.graph == spec.graph && found.ambiguous.rows() == 0);
  ConstraintOptions skeleton;
  skeleton.algorithm = ConstraintAlgorithm::skeleton;
  CHECK(constraint_search(spec, {}, skeleton, monitor).graph.all_undirected());
  const CiAnswer answer = ci_test(spec, {0, 1, {2}}, monitor);
  CHECK(answer.p_value == 0 && answer.name.empty());
}
