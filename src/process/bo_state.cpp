#include "process/bo_state.h"

namespace granary::process {

void check(const BoState& t) {
  require(t.x.rows() == t.y.size(), "the data of the model have not one response per point.");
  for (const MatrixXd& factor : t.factors)
    require(factor.rows() == factor.cols() && factor.rows() <= t.x.rows(), "`factors` do not fit the number of points.");
}

std::vector<BoSurrogate> BoState::surrogates() const {
  const BoModel m = model.model(x.cols());
  require(theta.cols() == m.n_parameters(), "`theta` has not one column per parameter.");
  std::vector<BoSurrogate> out;
  for (Index i = 0; i < theta.rows(); ++i) {
    Cholesky factor;
    if (static_cast<std::size_t>(i) < factors.size()) factor = Cholesky::from_lower(factors[static_cast<std::size_t>(i)]);
    out.push_back(m.surrogate(theta.row(i).transpose(), x, y, std::move(factor)));
  }
  return out;
}

BoFactors bo_factors(const BoState& state) {
  const Index count = state.theta.rows();
  BoFactors out;
  out.log_evidence.resize(count);
  out.s2.resize(count);
  out.nu.resize(count);
  Index at = 0;
  for (const BoSurrogate& surrogate : state.surrogates()) {
    out.factors.push_back(surrogate.factor().lower());
    out.floored = std::max(out.floored, surrogate.floored());
    out.log_evidence[at] = surrogate.log_evidence();
    out.s2[at] = surrogate.s2();
    out.nu[at] = surrogate.nu();
    out.weights.conservativeResize(count, surrogate.weights().size());
    out.weights.row(at++) = surrogate.weights().transpose();
  }
  return out;
}

BoMixture bo_mixture(const BoState& state, ConstMatrixRef at) {
  const std::vector<BoSurrogate> surrogates = state.surrogates();
  const Index count = static_cast<Index>(surrogates.size());
  BoMixture out{MatrixXd(at.rows(), count), MatrixXd(at.rows(), count), VectorXd(count)};
  for (Index k = 0; k < count; ++k) {
    const BoSurrogate& one = surrogates[static_cast<std::size_t>(k)];
    const BoPrediction p = one.predict(at);
    out.location.col(k) = p.location;
    out.scale.col(k) = p.scale;
    out.nu[k] = one.nu();
  }
  return out;
}

MatrixXd bo_covariance(const BoState& state, ConstMatrixRef at) {
  BoState first = state;
  first.theta.conservativeResize(1, Eigen::NoChange);
  return first.surrogates().front().covariance(at);
}

VectorXd bo_values(const BoState& state, const BoValueOptions& options, ConstMatrixRef at, Rng& rng) {
  const std::vector<BoSurrogate> surrogates = state.surrogates();
  const BoAcquisition acquisition(options.criterion, surrogates, bo_contexts(surrogates, options.noisy));
  return options.criterion.draws() ? acquisition.sampled_values(at, rng) : acquisition.values(at);
}

}  // namespace granary::process
