// Conditional Gaussian networks against enumeration of all configurations with multivariate normals.
#include "eigen.h"
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "core/math/logspace.h"
#include "core/linalg/moments.h"
#include "graph/cg_fit.h"
#include "graph/cg_rows.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

CgNetwork blank(int p, const std::vector<int>& levels) {
  CgNetwork net;
  for (int v = 0; v < p; ++v) {
    net.names.push_back(std::string(1, static_cast<char>('A' + v)));
    net.states.emplace_back();
    for (int s = 0; s < levels[v]; ++s) net.states[v].push_back(std::to_string(s));
  }
  net.discrete_parents.resize(p);
  net.continuous_parents.resize(p);
  net.table.resize(p);
  net.regression.resize(p);
  return net;
}

void fill(CgNetwork& net, Rng& rng) {
  for (int v = 0; v < net.nodes(); ++v) {
    const int configs = net.parent_space(v).size();
    if (net.discrete(v)) {
      net.table[v].resize(configs * net.levels(v));
      for (Index k = 0; k < net.table[v].size(); ++k) net.table[v][k] = 0.1 + rng.uniform();
      for (int c = 0; c < configs; ++c) {
        auto column = net.table[v].segment(c * net.levels(v), net.levels(v));
        column /= column.sum();
      }
    } else {
      const Index k = static_cast<Index>(net.continuous_parents[v].size());
      net.regression[v].resize(k + 2, configs);
      for (int c = 0; c < configs; ++c) {
        for (Index j = 0; j <= k; ++j) net.regression[v](j, c) = rng.normal();
        net.regression[v](k + 1, c) = 0.2 + rng.uniform();
      }
    }
  }
}

// Nodes in random order, each earlier one a parent with the given chance, no continuous parent of a discrete node.
CgNetwork random_network(int discrete, int continuous, double chance, Rng& rng) {
  std::vector<int> levels;
  for (int v = 0; v < discrete; ++v) levels.push_back(2 + static_cast<int>(rng.below(2)));
  levels.resize(discrete + continuous, 0);
  CgNetwork net = blank(discrete + continuous, levels);
  const std::vector<int> sequence = rng.permutation(discrete + continuous);
  for (std::size_t a = 0; a < sequence.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const int u = sequence[b], v = sequence[a];
      if (rng.uniform() >= chance || (net.discrete(v) && !net.discrete(u))) continue;
      (net.discrete(u) ? net.discrete_parents[v] : net.continuous_parents[v]).push_back(u);
    }
  }
  fill(net, rng);
  return net;
}

// Everything about one configuration: its probability, and the law of the continuous variables.
struct Component {
  std::vector<int> state;
  double log_probability;
  VectorXd mean;
  MatrixXd covariance;
};

std::vector<Component> enumerate(const CgNetwork& net) {
  std::vector<int> discrete, where(net.nodes(), -1);
  int q = 0;
  for (int v = 0; v < net.nodes(); ++v) {
    if (net.discrete(v))
      discrete.push_back(v);
    else
      where[v] = q++;
  }
  const StateSpace all(discrete, net.all_levels());
  const std::vector<int> order = topological_order(net.graph());
  std::vector<Component> result;
  for (int c = 0; c < all.size(); ++c) {
    Component one{std::vector<int>(net.nodes(), 0), 0, VectorXd::Zero(q), MatrixXd::Zero(q, q)};
    for (int k = 0; k < all.dimension(); ++k) one.state[discrete[k]] = all.state(c, k);
    for (int v : order) {
      const int config = net.parent_space(v).config(one.state);
      if (net.discrete(v)) {
        one.log_probability += std::log(net.table[v][config * net.levels(v) + one.state[v]]);
        continue;
      }
      const auto r = net.regression[v].col(config);
      const Index k = r.size() - 2;
      double mean = r[k];
      VectorXd row = VectorXd::Zero(q);
      for (Index j = 0; j < k; ++j) {
        mean += r[j] * one.mean[where[net.continuous_parents[v][j]]];
        row += r[j] * one.covariance.col(where[net.continuous_parents[v][j]]);
      }
      double variance = r[k + 1];
      for (Index j = 0; j < k; ++j) variance += r[j] * row[where[net.continuous_parents[v][j]]];
      one.mean[where[v]] = mean;
      one.covariance.col(where[v]) = row;
      one.covariance.row(where[v]) = row.transpose();
      one.covariance(where[v], where[v]) = variance;
    }
    result.push_back(one);
  }
  return result;
}

// Conditions every component on a row of findings (NaN: none). Returns log evidence; the weights become posterior log
// probabilities.
double condition(const CgNetwork& net, std::vector<Component>& all, const VectorXd& row) {
  std::vector<Index> seen, rest;
  std::vector<double> value;
  Index q = 0;
  for (int v = 0; v < net.nodes(); ++v) {
    if (net.discrete(v)) continue;
    if (std::isnan(row[v]))
      rest.push_back(q);
    else {
      seen.push_back(q);
      value.push_back(row[v]);
    }
    ++q;
  }
  LogSumExp total;
  for (Component& one : all) {
    for (int v = 0; v < net.nodes(); ++v) {
      if (net.discrete(v) && !std::isnan(row[v]) && one.state[v] != static_cast<int>(row[v])) one.log_probability = -infinity;
    }
    const Index s = static_cast<Index>(seen.size());
    MatrixXd ss(s, s), as(q, s);
    VectorXd off(s);
    for (Index j = 0; j < s; ++j) {
      off[j] = value[j] - one.mean[seen[j]];
      as.col(j) = one.covariance.col(seen[j]);
      for (Index k = 0; k < s; ++k) ss(j, k) = one.covariance(seen[j], seen[k]);
    }
    if (s > 0) {
      const Eigen::LLT<MatrixXd> llt(ss);
      const VectorXd half = llt.matrixL().solve(off);
      one.log_probability -=
          0.5 * half.squaredNorm() + MatrixXd(llt.matrixL()).diagonal().array().log().sum() + 0.5 * s * std::log(2 * M_PI);
      one.mean += as * llt.solve(off);
      one.covariance -= as * llt.solve(as.transpose());
    }
    total.add(one.log_probability);
  }
  for (Component& one : all) one.log_probability -= total.value();
  return total.value();
}

VectorXd no_findings(const CgNetwork& net) { return VectorXd::Constant(net.nodes(), std::numeric_limits<double>::quiet_NaN()); }

// Two laws of the same variables, component by component, matched by the discrete configuration.
void compare_mixture(const CgNetwork& net, const CgMixture& law, const std::vector<int>& variables,
                     const std::vector<Component>& all, double tol) {
  std::vector<int> where(net.nodes(), -1);
  int q = 0;
  for (int v = 0; v < net.nodes(); ++v) {
    if (!net.discrete(v)) where[v] = q++;
  }
  VectorXd weight = VectorXd::Zero(law.components.size());
  for (const Component& one : all) weight[law.components.config(one.state)] += std::exp(one.log_probability);
  double worst = 0;
  for (Index k = 0; k < law.weight.size(); ++k) {
    worst = std::max(worst, std::abs(law.weight[k] - weight[law.config[k]]));
    for (const Component& one : all) {
      if (one.log_probability == -infinity || law.components.config(one.state) != law.config[k]) continue;
      for (std::size_t a = 0; a < variables.size(); ++a) {
        worst = std::max(worst, std::abs(law.mean(k, a) - one.mean[where[variables[a]]]));
        for (std::size_t b = 0; b < variables.size(); ++b) {
          worst = std::max(worst, std::abs(law.covariance[k](a, b) - one.covariance(where[variables[a]], where[variables[b]])));
        }
      }
    }
  }
  CHECK_NEAR(law.weight.sum(), 1.0, 1e-12);
  CHECK_NEAR(worst, 0.0, tol);
}

void compare_all(const CgNetwork& net, const CgState& state, const VectorXd& row, double tol = 1e-9) {
  std::vector<Component> all = enumerate(net);
  const double evidence = condition(net, all, row);
  CHECK_NEAR(state.log_evidence(), evidence, tol * (1 + std::abs(evidence)));
  std::vector<int> continuous;
  for (int v = 0; v < net.nodes(); ++v) {
    if (!net.discrete(v)) {
      continuous.push_back(v);
      compare_mixture(net, state.mixture({v}), {v}, all, tol);
      continue;
    }
    VectorXd p = VectorXd::Zero(net.levels(v));
    for (const Component& one : all) p[one.state[v]] += std::exp(one.log_probability);
    CHECK_NEAR((state.probabilities({v}) - p).cwiseAbs().maxCoeff(), 0.0, tol);
  }
  compare_mixture(net, state.mixture(continuous), continuous, all, tol);
}

std::set<std::set<int>> cluster_sets(const CgTree& tree) {
  std::set<std::set<int>> sets;
  for (const CgCluster& c : tree.clusters) {
    std::set<int> members(c.discrete.begin(), c.discrete.end());
    members.insert(c.continuous.begin(), c.continuous.end());
    sets.insert(members);
  }
  return sets;
}

bool running_intersection(const CgTree& tree, int nodes) {
  for (int v = 0; v < nodes; ++v) {  // the clusters that hold v form a subtree: all but one of them have their parent among them
    int roots = 0;
    const auto holds = [&](const CgCluster& c) {
      return std::count(c.discrete.begin(), c.discrete.end(), v) + std::count(c.continuous.begin(), c.continuous.end(), v) > 0;
    };
    for (const CgCluster& c : tree.clusters) roots += holds(c) && (c.parent < 0 || !holds(tree.clusters[c.parent]));
    if (roots != 1) return false;
  }
  return true;
}

// A, B, C discrete; X | A, B; Y | X, C; Z | Y, C (Figure 2).
CgNetwork figure_2(Rng& rng) {
  CgNetwork net = blank(6, {2, 2, 2, 0, 0, 0});
  net.names = {"A", "B", "C", "X", "Y", "Z"};
  net.discrete_parents[3] = {0, 1};
  net.discrete_parents[4] = net.discrete_parents[5] = {2};
  net.continuous_parents[4] = {3};
  net.continuous_parents[5] = {4};
  fill(net, rng);
  return net;
}

}  // namespace

TEST("cg: the trees of Figure 3") {
  Rng rng(1);
  const CgNetwork net = figure_2(rng);
  const std::vector<int> order = {4, 3, 5, 2, 0, 1};  // Y X Z C A B
  const CgTree full = build_tree(net, TreeKind::elimination, order);
  CHECK(full.clusters.size() == 6);
  const std::set<std::set<int>> semi = {{4, 3, 5, 2}, {3, 5, 0, 1, 2}, {5, 0, 1, 2}, {0, 1, 2}};
  CHECK(cluster_sets(build_tree(net, TreeKind::semi_elimination, order)) == semi);
  const std::set<std::set<int>> junction = {{4, 3, 5, 2}, {3, 5, 0, 1, 2}};
  CHECK(cluster_sets(build_tree(net, TreeKind::junction, order)) == junction);
  const CgState state(net, order);
  const CgCompiled& c = state.compiled();
  // Y | X, Z, C ; X | Z, A, B, C ; Z | A, B, C: the tails are what is left of each cluster
  const MatrixXd& y = state.regressions(c.cluster_of[4]);
  CHECK(y.rows() == 5 && y.cols() == 2 && y(0, 0) != 0 && y(1, 0) == 0 && y(2, 0) != 0);
  const MatrixXd& x = state.regressions(c.cluster_of[3]);
  CHECK(x.rows() == 4 && x.cols() == 8 && x(0, 0) == 0 && x(1, 0) != 0);
  CHECK(state.regressions(c.cluster_of[5]).rows() == 3 && state.regressions(c.cluster_of[5]).cols() == 8);
}

TEST("cg: Figure 1, and a cluster is only absorbed by a child that contains it") {
  // elimination in reverse alphabetical order gives AB, BCDE, BCDF
  CgNetwork net = blank(6, {2, 2, 2, 2, 2, 2});
  net.discrete_parents[1] = {0};
  net.discrete_parents[2] = {1};
  net.discrete_parents[3] = {1, 2};
  net.discrete_parents[4] = {1, 2, 3};
  net.discrete_parents[5] = {1, 2, 3};
  Rng rng(2);
  fill(net, rng);
  const CgTree tree = build_tree(net, TreeKind::junction, {5, 4, 3, 2, 1, 0});
  const std::set<std::set<int>> expected = {{0, 1}, {1, 2, 3, 4}, {1, 2, 3, 5}};
  CHECK(cluster_sets(tree) == expected);
  CHECK(running_intersection(tree, 6));
  // B, A, X, Z, Y with AB, XA, ZB, YAB: absorbing {A, B} into {X, A}, its child of smallest index, would part {Z, B} from {Y, A,
  // B}
  CgNetwork counter = blank(5, {2, 2, 2, 2, 2});
  counter.discrete_parents[1] = {0};
  counter.discrete_parents[2] = {1};
  counter.discrete_parents[3] = {0};
  counter.discrete_parents[4] = {0, 1};
  fill(counter, rng);
  const CgTree fixed = build_tree(counter, TreeKind::junction, {4, 3, 2, 1, 0});
  const std::set<std::set<int>> cliques = {{0, 1, 4}, {1, 2}, {0, 3}};
  CHECK(cluster_sets(fixed) == cliques);
  CHECK(running_intersection(fixed, 5));
}

TEST("cg: Figure 4 (Lauritzen and Jensen, Example 3)") {
  CgNetwork net = blank(6, {2, 0, 0, 0, 0, 0});
  net.continuous_parents[3] = {5};
  net.continuous_parents[2] = {3};
  net.discrete_parents[2] = {0};
  net.continuous_parents[4] = {2, 5};
  net.discrete_parents[1] = {0};
  net.continuous_parents[1] = {2, 3, 4};
  Rng rng(3);
  fill(net, rng);
  const CgState state(net, {5, 4, 3, 2, 1, 0});
  const std::set<std::set<int>> expected = {{2, 3, 4, 5}, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {0, 1, 2}, {0, 1}, {0}};
  CHECK(cluster_sets(state.compiled().tree) == expected);
  compare_all(net, state, no_findings(net));
}

TEST("cg: random networks agree with enumeration, whatever the order and the findings") {
  Rng rng(4);
  for (int round = 0; round < 40; ++round) {
    const int discrete = static_cast<int>(rng.below(5)), continuous = 1 + static_cast<int>(rng.below(5));
    const CgNetwork net = random_network(discrete, continuous, 0.2 + 0.6 * rng.uniform(), rng);
    std::vector<int> order;
    if (round % 2) {  // a random strong order instead of the greedy one
      const std::vector<int> any = rng.permutation(net.nodes());
      for (int v : any)
        if (!net.discrete(v)) order.push_back(v);
      for (int v : any)
        if (net.discrete(v)) order.push_back(v);
    }
    const CgState prior(net, order);
    CHECK(running_intersection(prior.compiled().tree, net.nodes()));
    compare_all(net, prior, no_findings(net));
    VectorXd row = no_findings(net);
    for (int v = 0; v < net.nodes(); ++v) {
      if (rng.uniform() < 0.4) row[v] = net.discrete(v) ? static_cast<double>(rng.below(net.levels(v))) : 2 * rng.normal();
    }
    CgState state = prior;
    enter_row(state, row);
    compare_all(net, state, row);
  }
}

TEST("cg: findings in any order") {
  Rng rng(5);
  const CgNetwork net = random_network(3, 5, 0.6, rng);
  const CgState prior(net);
  CgState a = prior, b = prior;
  a.observe_value(3, 0.3);
  a.observe_value(5, -1);
  a.observe_value(7, 2);
  b.observe_value(7, 2);
  b.observe_value(3, 0.3);
  b.observe_value(5, -1);
  CHECK_NEAR(a.log_evidence(), b.log_evidence(), 1e-10);
  CHECK_NEAR(a.mixture({4}).mean(0, 0), b.mixture({4}).mean(0, 0), 1e-10);
  CHECK_NEAR(a.mixture({3}).mean(0, 0), 0.3, 0);
  CHECK(a.mixture({3}).covariance[0](0, 0) == 0);
}

TEST("cg: hundreds of findings do not underflow") {
  // naive Bayes: the class and 400 features, all far out; the log odds add up
  const int p = 401;
  CgNetwork net = blank(1, {2});
  net.table[0].resize(2);
  net.table[0] << 0.3, 0.7;
  for (int v = 1; v < p; ++v) {
    net.names.push_back("Y" + std::to_string(v));
    net.states.emplace_back();
    net.discrete_parents.push_back({0});
    net.continuous_parents.emplace_back();
    net.table.emplace_back();
    MatrixXd r(2, 2);
    r << 0, 0.01, 1, 1;
    net.regression.push_back(r);
  }
  CgState state(net);
  for (int v = 1; v < p; ++v) state.observe_value(v, 40);
  const double odds = std::log(0.7 / 0.3) + 400 * (0.5 * 40 * 40 - 0.5 * 39.99 * 39.99);
  CHECK(std::isfinite(state.log_evidence()) && state.log_evidence() < -300000);
  CHECK_NEAR(std::log(state.probabilities({0})[0]), -odds, 1e-9 * odds);
}

TEST("cg: deterministic nodes") {
  CgNetwork net = blank(2, {0, 0});  // B = 2 A
  net.continuous_parents[1] = {0};
  net.regression[0].resize(2, 1);
  net.regression[0] << 1, 4;
  net.regression[1].resize(3, 1);
  net.regression[1] << 2, 0, 0;
  CgState state(net);
  state.observe_value(1, 3);
  CHECK_NEAR(state.log_evidence(), -0.5 * (std::log(2 * M_PI * 16) + 1.0 / 16), 1e-12);
  const CgMixture law = state.mixture({0});
  CHECK_NEAR(law.mean(0, 0), 1.5, 1e-14);
  CHECK(law.covariance[0](0, 0) == 0);
  CgState twice = state;
  twice.observe_value(0, 1.5);  // says nothing new
  CHECK_NEAR(twice.log_evidence(), state.log_evidence(), 1e-12);
  CgState never = state;
  never.observe_value(0, 1.6);
  CHECK(never.log_evidence() == -infinity);
  CHECK_THROWS(never.mixture({0}), InputError);

  // C is a function of A when D = 0 and noisy when D = 1: a value that fits exactly decides for D = 0
  CgNetwork mixed = blank(3, {2, 0, 0});
  mixed.discrete_parents[2] = {0};
  mixed.continuous_parents[2] = {1};
  mixed.table[0] = VectorXd::Constant(2, 0.5);
  mixed.regression[1].resize(2, 1);
  mixed.regression[1] << 0, 1;
  mixed.regression[2].resize(3, 2);
  mixed.regression[2] << 1, 1, 0, 0, 0, 1;
  CgState choose(mixed);
  choose.observe_value(1, 0.7);
  CHECK(choose.mixed_certain().empty());
  choose.observe_value(2, 0.7);
  CHECK(choose.mixed_certain().size() == 1);
  CHECK_NEAR(choose.probabilities({0})[0], 1.0, 0);
  CgState other(mixed);
  other.observe_value(1, 0.7);
  other.observe_value(2, 0.8);
  CHECK(other.mixed_certain().empty());
  CHECK_NEAR(other.probabilities({0})[1], 1.0, 0);

  // sums and differences: what cancels leaves no trace to divide by
  CgNetwork sums = blank(5, {0, 0, 0, 0, 0});
  for (int v = 2; v < 5; ++v) sums.continuous_parents[v] = {0, 1};
  for (int v = 0; v < 2; ++v) {
    sums.regression[v].resize(2, 1);
    sums.regression[v] << 0, 1;
  }
  sums.regression[2].resize(4, 1);
  sums.regression[3].resize(4, 1);
  sums.regression[4].resize(4, 1);
  sums.regression[2] << 0.1, 0.3, 0, 0;
  sums.regression[3] << 0.3, -0.1, 0, 0;
  sums.regression[4] << 0.7, 0.2, 0, 0;
  CgState s(sums);
  s.observe_value(2, 0.1 * 1.7 + 0.3 * -0.4);
  s.observe_value(3, 0.3 * 1.7 - 0.1 * -0.4);
  const CgMixture third = s.mixture({4});
  CHECK_NEAR(third.mean(0, 0), 0.7 * 1.7 + 0.2 * -0.4, 1e-12);
  CHECK_NEAR(third.covariance[0](0, 0), 0.0, 1e-20);
  s.observe_value(4, 0.7 * 1.7 + 0.2 * -0.4);
  CHECK(std::isfinite(s.log_evidence()));
}

TEST("cg: scales 1e-8 and 1e8") {
  Rng rng(6);
  for (double scale : {1e-8, 1e8}) {
    CgNetwork net = random_network(2, 4, 0.8, rng), scaled = net;
    for (int v = 2; v < 6; ++v) {  // all continuous variables times `scale`
      MatrixXd& r = scaled.regression[v];
      r.row(r.rows() - 2) *= scale;
      r.row(r.rows() - 1) *= scale * scale;
    }
    CgState a(net), b(scaled);
    a.observe_value(3, 0.4);
    b.observe_value(3, 0.4 * scale);
    CHECK_NEAR(a.log_evidence(), b.log_evidence() + std::log(scale), 1e-10);
    CHECK_NEAR(a.mixture({5}).mean(0, 0), b.mixture({5}).mean(0, 0) / scale, 1e-10);
    CHECK_NEAR((a.probabilities({0, 1}) - b.probabilities({0, 1})).cwiseAbs().maxCoeff(), 0.0, 1e-12);
  }
}

TEST("cg: the chain is a Kalman smoother") {
  const int n = 30;
  Rng rng(7);
  CgNetwork net = blank(0, {});
  VectorXd y(n);
  for (int t = 0; t < 2 * n; ++t) {  // even: hidden x_t = 0.9 x_{t-1} + N(0, 0.5); odd: y_t = x_t + N(0, 0.3)
    net.names.push_back("V" + std::to_string(t));
    net.states.emplace_back();
    net.discrete_parents.emplace_back();
    net.table.emplace_back();
    MatrixXd r;
    if (t == 0) {
      net.continuous_parents.push_back({});
      r.resize(2, 1);
      r << 0, 1;
    } else {
      net.continuous_parents.push_back({t % 2 ? t - 1 : t - 2});
      r.resize(3, 1);
      if (t % 2)
        r << 1, 0, 0.3;
      else
        r << 0.9, 0, 0.5;
    }
    net.regression.push_back(r);
  }
  CgState state(net);
  double log_likelihood = 0;
  VectorXd m(n), P(n), mp(n), Pp(n), sm(n), sP(n);
  for (int t = 0; t < n; ++t) {
    y[t] = rng.normal();
    mp[t] = t ? 0.9 * m[t - 1] : 0;
    Pp[t] = t ? 0.81 * P[t - 1] + 0.5 : 1;
    const double S = Pp[t] + 0.3, K = Pp[t] / S;
    log_likelihood -= 0.5 * (std::log(2 * M_PI * S) + (y[t] - mp[t]) * (y[t] - mp[t]) / S);
    m[t] = mp[t] + K * (y[t] - mp[t]);
    P[t] = (1 - K) * Pp[t];
    state.observe_value(2 * t + 1, y[t]);
  }
  sm[n - 1] = m[n - 1];
  sP[n - 1] = P[n - 1];
  for (int t = n - 2; t >= 0; --t) {
    const double G = 0.9 * P[t] / Pp[t + 1];
    sm[t] = m[t] + G * (sm[t + 1] - mp[t + 1]);
    sP[t] = P[t] + G * G * (sP[t + 1] - Pp[t + 1]);
  }
  CHECK_NEAR(state.log_evidence(), log_likelihood, 1e-10);
  for (int t = 0; t < n; ++t) {
    const CgMixture law = state.mixture({2 * t});
    CHECK_NEAR(law.mean(0, 0), sm[t], 1e-10);
    CHECK_NEAR(law.covariance[0](0, 0), sP[t], 1e-10);
  }
}

TEST("cg: joint probabilities across clusters, the k best configurations, peaks and modes") {
  Rng rng(8);
  for (int round = 0; round < 8; ++round) {
    const CgNetwork net = random_network(4, 3, 0.5, rng);
    VectorXd row = no_findings(net);
    row[5] = 0.7;
    row[1] = 1;
    CgState state(net);
    enter_row(state, row);
    std::vector<Component> all = enumerate(net);
    condition(net, all, row);
    const VectorXd joint = state.probabilities({0, 2, 3});
    const StateSpace space({0, 2, 3}, net.all_levels());
    VectorXd expected = VectorXd::Zero(space.size());
    for (const Component& one : all) expected[space.config(one.state)] += std::exp(one.log_probability);
    CHECK_NEAR((joint - expected).cwiseAbs().maxCoeff(), 0.0, 1e-10);

    std::sort(all.begin(), all.end(),
              [](const Component& a, const Component& b) { return a.log_probability > b.log_probability; });
    const auto best = state.best_configurations(6);
    CHECK(best.size() == 6);
    for (int k = 0; k < 6; ++k) {
      CHECK_NEAR(best[k].log_value, all[k].log_probability, 1e-9);
      bool same = true;
      for (int v = 0; v < 4; ++v) same = same && best[k].state[v] == all[k].state[v];
      CHECK(same);
    }
    CHECK(state.best_configurations(100000).size() ==
          static_cast<std::size_t>(
              std::count_if(all.begin(), all.end(), [](const Component& c) { return c.log_probability > -infinity; })));

    // peaks: log p - 0.5 log det(2 pi Sigma), over the two unobserved continuous variables (4 and 6)
    const auto height = [&](const Component& one) {
      Eigen::Matrix2d s;
      s << one.covariance(0, 0), one.covariance(0, 2), one.covariance(2, 0), one.covariance(2, 2);
      return one.log_probability - 0.5 * std::log(s.determinant()) - std::log(2 * M_PI);
    };
    std::sort(all.begin(), all.end(), [&](const Component& a, const Component& b) { return height(a) > height(b); });
    const auto peaks = state.highest_peaks(3);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(peaks[k].log_density, height(all[k]), 1e-8);
      CHECK_NEAR(peaks[k].value[4], all[k].mean[0], 1e-9);
      CHECK_NEAR(peaks[k].value[6], all[k].mean[2], 1e-9);
      CHECK(peaks[k].value[5] == 0.7);
    }
    Monitor monitor;
    const CgState::Mode mode = state.climb(peaks[0], 1e-13, 10000, monitor);
    const auto density = [&](double y4, double y6) {
      VectorXd at = row;
      at[4] = y4;
      at[6] = y6;
      std::vector<Component> fresh = enumerate(net);
      return condition(net, fresh, at);
    };
    const double here = density(mode.value[4], mode.value[6]);
    CHECK_NEAR(mode.log_density, here - state.log_evidence(), 1e-8);
    CHECK(mode.log_density >= peaks[0].log_density - 1e-9);
    for (double step : {-1e-3, 1e-3}) {
      CHECK(density(mode.value[4] + step, mode.value[6]) <= here);
      CHECK(density(mode.value[4], mode.value[6] + step) <= here);
    }
  }
}

TEST("cg: draws have the law they come from") {
  Rng rng(9), draws(10);
  const CgNetwork net = random_network(3, 3, 0.6, rng);
  CgState state(net);
  state.observe_value(4, 0.5);
  Monitor monitor;
  const int n = 40000;
  const MatrixXd rows = state.simulate(n, draws, monitor);
  CHECK((rows.col(4).array() == 0.5).all());
  for (int v = 0; v < 3; ++v) {
    const VectorXd p = state.probabilities({v});
    for (int s = 0; s < net.levels(v); ++s) {
      const double share = (rows.col(v).array() == s).cast<double>().mean();
      CHECK_NEAR(share, p[s], 4.5 * std::sqrt(p[s] * (1 - p[s]) / n));
    }
  }
  const CgMixture law = state.mixture({3, 5});
  VectorXd mean = law.mean.transpose() * law.weight;
  MatrixXd second = MatrixXd::Zero(2, 2);
  for (Index k = 0; k < law.weight.size(); ++k) {
    second += law.weight[k] * (law.covariance[k] + law.mean.row(k).transpose() * law.mean.row(k));
  }
  MatrixXd pair(n, 2);
  pair << rows.col(3), rows.col(5);
  const MatrixXd covariance = second - mean * mean.transpose();
  for (int j = 0; j < 2; ++j) CHECK_NEAR(pair.col(j).mean(), mean[j], 4.5 * std::sqrt(covariance(j, j) / n));
  CHECK_NEAR((sample_covariance(pair) - covariance).cwiseAbs().maxCoeff() / covariance.diagonal().maxCoeff(), 0.0, 0.08);
  Rng again(10);
  CHECK(state.simulate(100, again, monitor) == rows.topRows(100));
}

TEST("cg: rows, on one thread or two") {
  Rng rng(11), draws(12);
  const CgNetwork net = random_network(3, 3, 0.6, rng);
  const CgState state(net);
  Monitor monitor;
  MatrixXd rows = state.simulate(50, draws, monitor);
  CHECK_NEAR((row_log_evidence(state, rows, 1, monitor) - log_density(net, rows)).cwiseAbs().maxCoeff(), 0.0, 1e-9);
  for (Index r = 0; r < 50; ++r) rows(r, static_cast<Index>(draws.below(6))) = std::numeric_limits<double>::quiet_NaN();
  CHECK(row_log_evidence(state, rows, 1, monitor) == row_log_evidence(state, rows, 2, monitor));
  for (int target : {0, 4}) CHECK(predict_rows(state, rows, target, 1, monitor) == predict_rows(state, rows, target, 2, monitor));
}

TEST("cg: fits are the closed forms, and EM climbs to the likelihood of what was seen") {
  Rng rng(13), draws(14);
  const CgNetwork net = random_network(2, 3, 0.9, rng);
  Monitor monitor;
  MatrixXd rows = CgState(net).simulate(3000, draws, monitor);
  const CgFitResult fit = fit_network(net, rows, {}, monitor);
  CHECK_NEAR(fit.log_likelihood, log_density(fit.network, rows).sum(), 1e-7 * std::abs(fit.log_likelihood));
  CHECK(fit.log_likelihood >= log_density(net, rows).sum());
  for (int v = 2; v < 5; ++v) CHECK_NEAR((fit.network.regression[v] - net.regression[v]).cwiseAbs().maxCoeff(), 0.0, 0.6);
  // the gradient vanishes: no small change of any coefficient improves the likelihood
  for (int v = 2; v < 5; ++v) {
    for (Index k = 0; k < fit.network.regression[v].size(); ++k) {
      for (double step : {-1e-3, 1e-3}) {
        CgNetwork moved = fit.network;
        moved.regression[v](k) += step;
        CHECK(log_density(moved, rows).sum() <= fit.log_likelihood + 1e-9);
      }
    }
  }

  MatrixXd holes = rows.topRows(400);
  for (Index r = 0; r < holes.rows(); ++r) {
    for (Index v = 0; v < 5; ++v) {
      if (draws.uniform() < 0.15) holes(r, v) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  CgFitOptions options;
  options.tol = 1e-10;
  const CgFitResult em = fit_network(net, holes, options, monitor);
  CHECK(em.convergence.converged);
  const double at_em = row_log_evidence(CgState(em.network), holes, 1, monitor).sum();
  CHECK_NEAR(em.log_likelihood, at_em, 1e-7 * std::abs(at_em));
  CHECK(at_em > row_log_evidence(CgState(net), holes, 1, monitor).sum());
  for (int v = 2; v < 5; ++v) {
    for (Index k = 0; k < em.network.regression[v].size(); ++k) {
      for (double step : {-0.02, 0.02}) {
        CgNetwork moved = em.network;
        moved.regression[v](k) += step;
        CHECK(row_log_evidence(CgState(moved), holes, 1, monitor).sum() <= at_em + 1e-5);
      }
    }
  }
  options.threads = 2;
  options.max_iter = 5;
  CgFitOptions one = options;
  one.threads = 1;
  const CgFitResult a = fit_network(net, holes, one, monitor), b = fit_network(net, holes, options, monitor);
  CHECK(!a.convergence.converged);
  CHECK(a.log_likelihood == b.log_likelihood && a.network.regression[3] == b.network.regression[3]);
}

TEST("cg: small configurations, shrinkage, constant columns, bad networks") {
  CgNetwork net = blank(2, {2, 0});
  net.discrete_parents[1] = {0};
  MatrixXd rows(4, 2);
  rows << 0, 1, 0, 2, 0, 6, 1, 9;
  Monitor monitor;
  CHECK_THROWS(fit_network(net, rows, {}, monitor), InputError);
  try {
    fit_network(net, rows, {}, monitor);
  } catch (const InputError& e) {
    CHECK(std::string(e.what()).find("A = 1") != std::string::npos);
    CHECK(std::string(e.what()).find("shrink") != std::string::npos);
  }
  CgFitOptions options;
  options.shrink = 1;
  const CgFitResult fit = fit_network(net, rows, options, monitor);
  CHECK_NEAR(fit.network.regression[1](0, 1), (9 + 4.5) / 2,
             1e-12);  // one observation, one pseudo-observation at the mean of all
  options = {};
  options.pooled = true;
  const CgFitResult pooled = fit_network(net, rows, options, monitor);
  CHECK_NEAR(pooled.network.regression[1](0, 1), 9, 1e-12);
  CHECK_NEAR(pooled.network.regression[1](1, 1), 14.0 / 4, 1e-12);

  rows.col(1).setConstant(7e8);
  options.pooled = true;
  const CgFitResult constant = fit_network(net, rows, options, monitor);
  CHECK(constant.degenerate.size() == 2);
  CHECK(constant.network.regression[1](1, 0) == 0 && constant.network.regression[1](0, 0) == 7e8);

  Rng rng(15);
  CgNetwork bad = random_network(2, 2, 1, rng);
  bad.table[0][0] += 0.1;
  CHECK_THROWS(check_network(bad), InputError);
  bad = random_network(2, 2, 1, rng);
  bad.regression[3](bad.regression[3].rows() - 1, 0) = -1;
  CHECK_THROWS(check_network(bad), InputError);
  bad = blank(2, {2, 0});
  bad.continuous_parents[0] = {1};
  CHECK_THROWS(check_network(bad), InputError);
  const CgNetwork good = random_network(6, 1, 1, rng);
  CHECK_THROWS(CgState(good, {}, 4), InputError);
  CHECK_THROWS(CgState(good, {0, 1, 2, 3, 4, 5, 6}), InputError);  // a discrete node before a continuous one
}
