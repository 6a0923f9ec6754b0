#include "process/sparse_predict.h"


#include "core/base/errors.h"
#include "process/sparse_panels.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr Index test_panel = 256;

void check_rows(const SparseState& state, ConstMatrixRef newx, ConstMatrixRef trend) {
  if (newx.cols() != state.inducing.cols())
    throw InputError(message("the new inputs must have ", state.inducing.cols(), " columns, not ", newx.cols(), "."));
  if (trend.rows() != newx.rows() || trend.cols() != state.trend.size())
    throw InputError("the trend of the new rows does not fit the model.");
}

// (F'C^-1F)^-1/2 u for each column u.
MatrixXd trend_part(const SparseState& state, MatrixXd u) {
  state.trend_lower.triangularView<Eigen::Lower>().solveInPlace(u);
  return u;
}

}  // namespace

SparsePrediction sparse_predict(const SparseState& state, const Kernel& kernel, ConstMatrixRef newx, ConstMatrixRef trend,
                                const SparsePredictOptions& options, Monitor& monitor) {
  check_rows(state, newx, trend);
  const Index total = newx.rows(), m = state.inducing.rows(), q = state.trend.size();
  const bool exact = state.method == SparseMethod::exact, variance = options.variance || options.covariance;
  const VectorXd weights = residual_weights(state), c = state.c * weights;
  const MatrixXd inverse_u = lower_inverse(state.lower_u);
  const MatrixXd inverse_b = exact ? MatrixXd(0, 0) : lower_inverse(state.lower_b);
  VectorXd a = exact ? c : VectorXd(inverse_b.transpose() * c);  // mean = k_u*' a
  a = inverse_u.transpose() * a;

  SparsePrediction out;
  out.mean = trend * state.trend;
  if (variance) out.variance.resize(total);
  if (options.gradient) out.gradient = MatrixXd::Zero(total, newx.cols());
  MatrixXd all_w, all_t, all_u;
  if (options.covariance) {
    all_w.resize(m, total);
    all_t.resize(exact ? 0 : m, total);
    all_u.resize(q, total);
  }
  parallel_for((total + test_panel - 1) / test_panel, options.threads, monitor, [&](Index task) {
    const Index from = task * test_panel, count = std::min(test_panel, total - from);
    const auto x = newx.middleRows(from, count);
    MatrixXd k(m, count);
    kernel.cross(state.inducing, x, k);
    out.mean.segment(from, count).noalias() += k.transpose() * a;
    if (options.gradient) {
      MatrixXd dz = MatrixXd::Zero(count, newx.cols());
      VectorXd unused = VectorXd::Zero(kernel.n_parameters());
      kernel.add_cross_gradient(state.inducing, x, a.replicate(1, count), unused, nullptr, &dz);
      out.gradient.middleRows(from, count) = dz;
    }
    if (!variance) return;
    const MatrixXd w = inverse_u.triangularView<Eigen::Lower>() * k;
    const MatrixXd t = exact ? MatrixXd(0, count) : MatrixXd(inverse_b.triangularView<Eigen::Lower>() * w);
    VectorXd v = t.colwise().squaredNorm().transpose();
    if (state.method != SparseMethod::sor) v += (kernel.diagonal(x) - w.colwise().squaredNorm().transpose()).cwiseMax(0);
    if (q > 0) {
      const MatrixXd& basis = exact ? w : t;
      const MatrixXd u = trend_part(state, trend.middleRows(from, count).transpose() - state.c.rightCols(q).transpose() * basis);
      v += u.colwise().squaredNorm().transpose();
      if (options.covariance) all_u.middleCols(from, count) = u;
    }
    out.variance.segment(from, count) = v;
    if (options.covariance) {
      all_w.middleCols(from, count) = w;
      if (!exact) all_t.middleCols(from, count) = t;
    }
  });
  if (options.covariance) {
    if (options.diagonal_conditional || state.method == SparseMethod::sor) {
      out.covariance = MatrixXd::Zero(total, total);
    } else {
      out.covariance = kernel.matrix(newx);
      out.covariance.noalias() -= all_w.transpose() * all_w;
    }
    if (!exact) out.covariance.noalias() += all_t.transpose() * all_t;
    if (q > 0) out.covariance.noalias() += all_u.transpose() * all_u;
    out.covariance.diagonal() = out.variance;
  }
  return out;
}

SparsePrediction nystrom_predict(const SparseState& state, const SparseProblem& problem, const Kernel& kernel,
                                 ConstMatrixRef newx, ConstMatrixRef trend, const SparsePredictOptions& options,
                                 Monitor& monitor) {
  check_rows(state, newx, trend);
  const Index total = newx.rows(), m = state.inducing.rows(), q = state.trend.size(), targets = 1 + q;
  const MatrixXd inverse_u = lower_inverse(state.lower_u);
  const VectorXd weights = residual_weights(state);
  const std::vector<RowRange> ranges = row_ranges(problem);
  SparsePrediction out;
  out.mean = trend * state.trend;
  if (options.variance || options.covariance) out.variance.resize(total);
  if (options.covariance) out.covariance = kernel.matrix(newx);
  if (options.gradient) out.gradient = MatrixXd::Zero(total, newx.cols());
  // K_*f C^-1 = (K_*f - K_*f V' B^-1 V / s2) / s2: products with the targets, with V', and among the new rows.
  const Index step = options.covariance ? total : std::min<Index>(total, 2048);
  for (Index from = 0; from < total; from += step) {
    const Index count = std::min(step, total - from);
    const auto x = newx.middleRows(from, count);
    MatrixXd with_v = MatrixXd::Zero(m, count), with_targets = MatrixXd::Zero(targets, count), square;
    VectorXd norms = VectorXd::Zero(count);
    if (options.covariance) square = MatrixXd::Zero(count, count);
    for (const RowRange& rows : ranges) {
      monitor.check();
      Panel panel;
      fill_panel(panel, problem, rows, kernel, state.noise, state.inducing, inverse_u, false);
      const auto panel_x = problem.x->middleRows(rows.from, rows.count);
      const MatrixXd k = kernel.cross(panel_x, x);
      with_v.noalias() += panel.v * k;
      with_targets.noalias() += problem.targets->middleRows(rows.from, rows.count).transpose() * k;
      norms += k.colwise().squaredNorm().transpose();
      if (options.covariance) square.noalias() += k.transpose() * k;
      if (options.gradient) {
        VectorXd beta = state.c * weights;
        state.lower_b.transpose().triangularView<Eigen::Upper>().solveInPlace(beta);
        VectorXd alpha = problem.targets->middleRows(rows.from, rows.count) * weights;
        alpha -= panel.v.transpose() * beta;
        alpha /= state.noise;
        MatrixXd dz = MatrixXd::Zero(count, newx.cols());
        VectorXd unused = VectorXd::Zero(kernel.n_parameters());
        kernel.add_cross_gradient(panel_x, x, alpha.replicate(1, count), unused, nullptr, &dz);
        out.gradient.middleRows(from, count) += dz;
      }
    }
    state.lower_b.triangularView<Eigen::Lower>().solveInPlace(with_v);                   // L_B^-1 V K_f*
    const MatrixXd cross = (with_targets - state.c.transpose() * with_v) / state.noise;  // [y F]' C^-1 K_f*
    out.mean.segment(from, count) += cross.transpose() * weights;
    if (!options.variance && !options.covariance) continue;
    const double s2 = state.noise;
    VectorXd v = kernel.diagonal(x) - norms / s2 + with_v.colwise().squaredNorm().transpose() / (s2 * s2);
    MatrixXd u(0, count);
    if (q > 0) u = trend_part(state, trend.middleRows(from, count).transpose() - cross.bottomRows(q));
    v += u.colwise().squaredNorm().transpose();
    out.variance.segment(from, count) = v;
    if (options.covariance) {
      out.covariance += -square / s2 + with_v.transpose() * with_v / (s2 * s2) + u.transpose() * u;
      out.covariance.diagonal() = v;
    }
  }
  return out;
}

namespace {

// The bordered system of one augmented prediction.
struct Border {
  VectorXd w;                // L_u^-1 k_u*
  double s = 0;              // sqrt(k** - w'w); zero where x* is explained by u already
  MatrixXd b;                // B, where Lambda changes
  VectorXd column;           // V Lambda^-1 v*
  double corner = 1;         // 1 + v*' Lambda^-1 v*
  MatrixXd h;                // V Lambda^-1 [y F]
  Eigen::RowVectorXd h_new;  // v*' Lambda^-1 [y F]
  MatrixXd gram;
};

}  // namespace

SparsePrediction augmented_predict(const SparseState& state, const SparseProblem& problem, const Kernel& kernel,
                                   ConstMatrixRef newx, ConstMatrixRef trend, int threads, Monitor& monitor) {
  check_rows(state, newx, trend);
  if (state.method == SparseMethod::exact || state.method == SparseMethod::nystrom)
    throw InputError(
        "only methods with inducing variables can be augmented: an exact process already has all of them (Remark 11).");
  const Index total = newx.rows(), m = state.inducing.rows(), q = state.trend.size(), targets = 1 + q;
  const bool changes = state.method == SparseMethod::fitc || state.method == SparseMethod::pitc;
  const MatrixXd inverse_u = lower_inverse(state.lower_u);
  const std::vector<RowRange> ranges = row_ranges(problem);
  SparsePrediction out;
  out.mean.resize(total);
  out.variance.resize(total);
  const Index step = changes ? 32 : 512;
  for (Index from = 0; from < total; from += step) {
    const Index count = std::min(step, total - from);
    const auto x = newx.middleRows(from, count);
    const MatrixXd k = kernel.cross(state.inducing, x);
    const MatrixXd w = inverse_u.triangularView<Eigen::Lower>() * k;
    const VectorXd prior = kernel.diagonal(x);
    std::vector<Border> borders(count);
    for (Index j = 0; j < count; ++j) {
      Border& e = borders[j];
      e.w = w.col(j);
      const double rest = prior[j] - w.col(j).squaredNorm();
      e.s = rest > 1e-8 * prior[j] ? std::sqrt(rest) : 0;
      if (changes) {
        e.b = state.b;
        e.h = state.h;
      }
      e.gram = state.gram;
      e.column = VectorXd::Zero(m);
      e.h_new = Eigen::RowVectorXd::Zero(targets);
    }
    for (const RowRange& rows : ranges) {
      Panel panel;
      fill_panel(panel, problem, rows, kernel, state.noise, state.inducing, inverse_u, false);
      const MatrixXd t = problem.targets->middleRows(rows.from, rows.count);
      MatrixXd v = kernel.cross(problem.x->middleRows(rows.from, rows.count), x);  // rows x new: k_f*, then v*
      v.noalias() -= panel.v.transpose() * w;
      const MatrixXd solved_v = changes ? panel.noise.solve(panel.v) : panel.v / state.noise;  // V Lambda^-1
      parallel_for(count, threads, monitor, [&](Index j) {
        Border& e = borders[j];
        if (e.s == 0) return;
        VectorXd own = v.col(j) / e.s;
        if (!changes) {
          e.column.noalias() += solved_v * own;
          e.corner += own.squaredNorm() / state.noise;
          e.h_new.noalias() += own.transpose() * t / state.noise;
          return;
        }
        if (panel.noise.lambda.size() > 0) {  // Lambda_ii - v*_i^2, and every row of B's sum changes its weight
          const VectorXd changed = (panel.noise.lambda - own.cwiseAbs2()).cwiseMax(state.noise);
          const VectorXd weight = changed.cwiseInverse();
          const VectorXd extra = weight - panel.noise.lambda.cwiseInverse();
          e.b.triangularView<Eigen::Lower>() += (panel.v * extra.asDiagonal()) * panel.v.transpose();
          e.column.noalias() += panel.v * own.cwiseProduct(weight);
          e.corner += own.cwiseAbs2().dot(weight);
          e.h.noalias() += panel.v * (extra.asDiagonal() * t);
          e.h_new.noalias() += own.cwiseProduct(weight).transpose() * t;
          e.gram.noalias() += t.transpose() * extra.asDiagonal() * t;
          return;
        }
        // (Lambda - v v')^-1 = Lambda^-1 + z z' / (1 - v'z), z = Lambda^-1 v: one more rank for each block.
        const VectorXd z = panel.noise.solve(own.transpose()).transpose();
        const double left = std::max(1 - own.dot(z), 1e-12);
        const VectorXd vz = panel.v * z;
        const Eigen::RowVectorXd tz = z.transpose() * t;
        e.b.selfadjointView<Eigen::Lower>().rankUpdate(vz, 1 / left);
        e.h.noalias() += vz * tz / left;
        e.gram.noalias() += tz.transpose() * tz / left;
        e.column += vz / left;
        e.h_new += tz / left;
        e.corner += own.dot(z) / left;
      });
    }
    parallel_for(count, threads, monitor, [&](Index j) {
      Border& e = borders[j];
      const bool more = e.s > 0;
      const Index size = m + (more ? 1 : 0);
      // t = L_B^-1 [w; s] and h = L_B^-1 H of the bordered system.
      const MatrixXd lower = changes ? MatrixXd(Llt(e.b).matrixL()) : MatrixXd(0, 0);
      const auto solve = [&](MatrixXd rhs) {
        (changes ? lower : state.lower_b).triangularView<Eigen::Lower>().solveInPlace(rhs);
        return rhs;
      };
      VectorXd t(size);
      MatrixXd h(size, targets);
      t.head(m) = solve(e.w);
      h.topRows(m) = changes ? solve(e.h) : state.c;
      if (more) {
        const VectorXd l = solve(e.column);
        const double pivot = std::sqrt(std::max(e.corner - l.squaredNorm(), 1e-300));
        t[m] = (e.s - l.dot(t.head(m))) / pivot;
        h.row(m) = (e.h_new - l.transpose() * h.topRows(m)) / pivot;
      }
      VectorXd weights = VectorXd::Unit(targets, 0);
      double extra = 0, mean = 0;
      if (q > 0) {
        const MatrixXd rest = e.gram - h.transpose() * h;
        const Llt normal(rest.bottomRightCorner(q, q));
        const VectorXd coefficients = normal.solve(VectorXd(rest.col(0).tail(q)));
        VectorXd u = trend.row(from + j).transpose() - h.rightCols(q).transpose() * t;
        normal.matrixL().solveInPlace(u);
        extra = u.squaredNorm();
        weights.tail(q) = -coefficients;
        mean = trend.row(from + j).dot(coefficients);
      }
      out.mean[from + j] = mean + t.dot(h * weights);
      out.variance[from + j] = t.squaredNorm() + extra;
      if (!more && state.method != SparseMethod::sor) out.variance[from + j] += std::max(0.0, prior[j] - e.w.squaredNorm());
    });
  }
  return out;
}

}  // namespace granary::process
