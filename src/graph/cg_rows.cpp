#include "graph/cg_rows.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::graph {

void enter_row(CgState& state, ConstVectorRef row) {
  const CgNetwork& network = state.compiled().network;
  for (int v = 0; v < network.nodes(); ++v) {
    if (!network.discrete(v) || std::isnan(row[v])) continue;
    VectorXd only = VectorXd::Constant(network.levels(v), -std::numeric_limits<double>::infinity());
    only[static_cast<Index>(row[v])] = 0;
    state.observe_states(v, only);
  }
  for (int v = 0; v < network.nodes(); ++v) {
    if (!network.discrete(v) && !std::isnan(row[v])) state.observe_value(v, row[v]);
  }
}

VectorXd row_log_evidence(const CgState& base, ConstMatrixRef rows, int threads, Monitor& monitor) {
  VectorXd result(rows.rows());
  const double before = base.log_evidence();
  parallel_for(rows.rows(), threads, monitor, [&](Index r) {
    CgState state = base;
    enter_row(state, rows.row(r).transpose());
    result[r] = state.log_evidence() - before;
  });
  return result;
}

MatrixXd predict_rows(const CgState& base, ConstMatrixRef rows, int target, int threads, Monitor& monitor) {
  const CgNetwork& network = base.compiled().network;
  const bool discrete = network.discrete(target);
  MatrixXd result(rows.rows(), discrete ? network.levels(target) : 2);
  parallel_for(rows.rows(), threads, monitor, [&](Index r) {
    CgState state = base;
    VectorXd row = rows.row(r).transpose();
    row[target] = std::numeric_limits<double>::quiet_NaN();
    enter_row(state, row);
    if (state.log_evidence() == -std::numeric_limits<double>::infinity()) {
      throw InputError(
          message("row ", r + 1, " of `newdata` has probability zero under the network, so nothing can be predicted for it."));
    }
    if (discrete) {
      result.row(r) = state.probabilities({target}).transpose();
      return;
    }
    const CgMixture law = state.mixture({target});
    const double mean = law.weight.dot(law.mean.col(0));
    double variance = 0;
    for (Index k = 0; k < law.weight.size(); ++k) {
      const double off = law.mean(k, 0) - mean;
      variance += law.weight[k] * (law.covariance[k](0, 0) + off * off);
    }
    result(r, 0) = mean;
    result(r, 1) = variance;
  });
  return result;
}

}  // namespace granary::graph
