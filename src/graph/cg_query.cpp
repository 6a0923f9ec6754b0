#include "graph/cg_query.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary::graph {
namespace {

void require_nodes(const CgState& state, const std::vector<int>& nodes) {
  for (const int v : nodes) require(v >= 0 && v < state.compiled().network.nodes(), "there is no such node in the network.");
}

void require_kind(const CgState& state, const std::vector<int>& nodes, bool discrete) {
  require_nodes(state, nodes);
  for (const int v : nodes)
    require(state.compiled().network.discrete(v) == discrete, discrete ? "a discrete node is needed." : "a continuous node is needed.");
}

CgLaw as_law(const CgMixture& mixture) {
  CgLaw law;
  law.weights = mixture.weight;
  law.means = mixture.mean;
  law.covariances = mixture.covariance;
  law.nodes = mixture.components.variables();
  law.states = state_rows(mixture.components, mixture.config);
  return law;
}

}  // namespace

CgObserved observe_all(const CgState& before, const CgFindings& findings) {
  require_kind(before, findings.discrete, true);
  require_kind(before, findings.continuous, false);
  require(findings.discrete.size() == findings.log_likelihood.size() && findings.continuous.size() == findings.values.size(),
          "every finding needs a value.");
  const std::size_t first = findings.discrete.size(), count = first + findings.continuous.size();
  const auto enter = [&](CgState& s, std::size_t k) {
    if (k < first) {
      s.observe_states(findings.discrete[k], findings.log_likelihood[k]);
    } else {
      s.observe_value(findings.continuous[k - first], findings.values[k - first]);
    }
  };
  const double impossible = -std::numeric_limits<double>::infinity();
  CgObserved out;
  out.state = std::make_unique<CgState>(before);
  for (std::size_t k = 0; k < count; ++k) enter(*out.state, k);
  out.log_evidence = out.state->log_evidence();
  out.certain = out.state->mixed_certain();
  if (out.log_evidence != impossible) return out;
  CgState slow = before;
  for (std::size_t k = 0; k < count && out.blocked < 0; ++k) {
    enter(slow, k);
    if (slow.log_evidence() == impossible) out.blocked = static_cast<int>(k);
  }
  return out;
}

Eigen::MatrixXi state_rows(const StateSpace& space, const std::vector<int>& configs) {
  Eigen::MatrixXi out(static_cast<Index>(configs.size()), space.dimension());
  for (Index r = 0; r < out.rows(); ++r)
    for (int k = 0; k < space.dimension(); ++k) out(r, k) = space.state(configs[static_cast<std::size_t>(r)], k);
  return out;
}

std::vector<CgLaw> single_laws(const CgState& state, const std::vector<int>& nodes) {
  require_nodes(state, nodes);
  const DiscreteForest::Tables belief = state.belief();
  std::vector<CgLaw> laws;
  for (const int v : nodes) {
    if (state.compiled().network.discrete(v)) {
      laws.emplace_back();
      laws.back().probabilities = state.probabilities({v}, belief);
      continue;
    }
    laws.push_back(as_law(state.mixture({v}, belief)));
    CgLaw& law = laws.back();
    law.sds.resize(law.weights.size(), 1);
    for (Index c = 0; c < law.sds.rows(); ++c) law.sds(c, 0) = std::sqrt(law.covariances[static_cast<std::size_t>(c)](0, 0));
    law.covariances.clear();
  }
  return laws;
}

VectorXd joint_probabilities(const CgState& state, const std::vector<int>& discrete) {
  require_kind(state, discrete, true);
  return state.probabilities(discrete);
}

CgLaw joint_law(const CgState& state, const std::vector<int>& continuous, const std::vector<int>& discrete) {
  require_kind(state, continuous, false);
  require_kind(state, discrete, true);
  return as_law(state.mixture(continuous, state.belief(), discrete));
}

CgMap most_probable(const CgState& state, const CgMapOptions& options, Monitor& monitor) {
  const CgNetwork& network = state.compiled().network;
  const int p = network.nodes();
  std::vector<CgPeak> peaks;
  if (options.type == CgMapType::semimax) {
    for (const DiscreteForest::Ranked& one : state.best_configurations(options.k))
      peaks.push_back({one.log_value, one.state, VectorXd::Constant(p, std::numeric_limits<double>::quiet_NaN())});
  } else {
    peaks = state.highest_peaks(options.k);
  }
  CgMap out;
  if (options.type == CgMapType::mode) {
    for (CgPeak& peak : peaks) {
      const CgState::Mode mode = state.climb(peak, options.tol, options.max_iter, monitor);
      peak.log_density = mode.log_density;
      peak.value = mode.value;
      out.iterations.push_back(mode.iterations);
      out.converged = out.converged && mode.converged;
    }
  }
  out.log_value.resize(static_cast<Index>(peaks.size()));
  out.rows.resize(out.log_value.size(), p);
  for (Index r = 0; r < out.rows.rows(); ++r) {
    const CgPeak& peak = peaks[static_cast<std::size_t>(r)];
    out.log_value[r] = peak.log_density;
    for (int v = 0; v < p; ++v) out.rows(r, v) = network.discrete(v) ? peak.state[static_cast<std::size_t>(v)] + 1 : peak.value[v];
  }
  return out;
}

std::vector<ClusterRegression> cluster_regressions(const CgState& state) {
  const CgCompiled& c = state.compiled();
  std::vector<ClusterRegression> out(static_cast<std::size_t>(c.continuous()));
  for (int i = 0; i < c.continuous(); ++i) {
    ClusterRegression& one = out[static_cast<std::size_t>(i)];
    one.variable = c.tree.clusters[i].variable;
    one.continuous = c.tree.clusters[i].continuous;
    one.discrete = c.tree.clusters[i].discrete;
    std::vector<int> all(static_cast<std::size_t>(c.space[i].size()));
    std::iota(all.begin(), all.end(), 0);
    one.states = state_rows(c.space[i], all);
    one.terms = state.regressions(i);
    one.active = state.active(i);
  }
  return out;
}

}  // namespace granary::graph
