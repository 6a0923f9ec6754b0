#include "process/sparse_system.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/spd.h"
#include "core/linalg/spd_inverse.h"
#include "process/sparse_panels.h"
#include "core/linalg/dense.h"

namespace granary::process {

double PanelNoise::log_determinant() const {
  return lambda.size() > 0 ? lambda.array().log().sum() : 2 * lower.diagonal().array().log().sum();
}

MatrixXd PanelNoise::whiten(const MatrixXd& x) const {
  if (lambda.size() > 0) {
    const VectorXd by = lambda.cwiseSqrt().cwiseInverse();  // once for each column, not for each element
    return x * by.asDiagonal();
  }
  MatrixXd out = x;
  lower.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(out);
  return out;
}

MatrixXd PanelNoise::solve(const MatrixXd& x) const {
  if (lambda.size() > 0) {
    const VectorXd by = lambda.cwiseInverse();
    return x * by.asDiagonal();
  }
  MatrixXd out = whiten(x);
  lower.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(out);
  return out;
}

MatrixXd lower_inverse(const MatrixXd& lower) {
  MatrixXd inverse = lower.triangularView<Eigen::Lower>();
  invert_lower(inverse);
  return inverse;
}

MatrixXd factor_with_jitter(const MatrixXd& k, const SparseJitter& jitter, double& used) {
  if (k.rows() == 0) return k;
  if (!k.allFinite()) throw NumericalError("the kernel matrix of the inducing inputs is not finite.");
  const double scale = k.diagonal().mean();
  if (!(scale > 0)) throw NumericalError("the kernel is zero at the inducing inputs: no function can be learnt with it.");
  for (double share = jitter.first; share <= jitter.last * 1.0001; share = share > 0 ? 10 * share : 1e-12) {
    MatrixXd shifted = k;
    shifted.diagonal().array() += share * scale;
    const Llt factor(shifted);
    if (factor.info() == Eigen::Success && factor.matrixLLT().diagonal().minCoeff() > 0) {
      used = share;
      return factor.matrixL();
    }
  }
  throw NumericalError(message("the kernel matrix of the inducing inputs is not positive definite, even with ", jitter.last,
                               " of its mean added to the diagonal. Use fewer inducing inputs, or another kernel."));
}

void fill_panel(Panel& panel, const SparseProblem& problem, const RowRange& rows, const Kernel& kernel, double noise,
                const MatrixXd& inducing, const MatrixXd& inverse_u, bool have_v) {
  const auto x = problem.x->middleRows(rows.from, rows.count);
  const Index m = inducing.rows();
  if (!have_v) {
    panel.v.resize(m, rows.count);
    if (m > 0) {
      MatrixXd k(m, rows.count);
      kernel.cross(inducing, x, k);
      panel.v.noalias() = inverse_u.triangularView<Eigen::Lower>() * k;
    }
  }
  const VectorXd diagonal = kernel.diagonal(x);
  panel.prior = diagonal.sum();
  panel.gap = diagonal;
  if (m > 0) panel.gap -= panel.v.colwise().squaredNorm().transpose();
  panel.gap = panel.gap.cwiseMax(0);
  if (problem.method != SparseMethod::pitc && problem.method != SparseMethod::exact) {
    panel.noise.lambda = VectorXd::Constant(rows.count, noise);
    if (problem.method == SparseMethod::fitc) panel.noise.lambda += panel.gap;
    return;
  }
  MatrixXd block = kernel.matrix(x);
  if (m > 0) block.selfadjointView<Eigen::Lower>().rankUpdate(panel.v.transpose(), -1.0);
  block.diagonal().array() += noise;
  panel.noise.lower = cholesky_with_jitter(block).lower();
}

namespace {

// What a lane gathers in the first pass.
struct Sums {
  MatrixXd b, h, gram;
  double log_lambda = 0, gap = 0, max_gap = 0, prior = 0;
  Sums(Index m, Index t) : b(MatrixXd::Zero(m, m)), h(MatrixXd::Zero(m, t)), gram(MatrixXd::Zero(t, t)) {}

  void add(const Panel& panel, const MatrixXd& targets) {
    const MatrixXd whitened = panel.noise.whiten(targets.transpose());
    if (b.rows() > 0) {
      const MatrixXd v = panel.noise.whiten(panel.v);
      b.selfadjointView<Eigen::Lower>().rankUpdate(v);
      h.noalias() += v * whitened.transpose();
    }
    gram.noalias() += whitened * whitened.transpose();
    log_lambda += panel.noise.log_determinant();
    gap += panel.gap.sum();
    max_gap = std::max(max_gap, panel.gap.maxCoeff());
    prior += panel.prior;
  }
  void add_to(SparseState& state) const {
    state.b += b;
    state.h += h;
    state.gram += gram;
    state.log_lambda += log_lambda;
    state.gap += gap;
    state.max_gap = std::max(state.max_gap, max_gap);
    state.prior += prior;
  }
};

// L_B, c, the trend and the evidence, from the sums.
void finish(SparseState& state) {
  const Index m = state.b.rows(), q = state.gram.rows() - 1;
  state.lower_b = m > 0 ? MatrixXd(Llt(state.b).matrixL()) : MatrixXd(0, 0);
  if (!state.lower_b.allFinite())
    throw NumericalError("the system of the inducing inputs is not finite: the noise is too small for it.");
  state.c = state.h;
  if (m > 0) state.lower_b.triangularView<Eigen::Lower>().solveInPlace(state.c);
  MatrixXd rest = state.gram;  // [y F]' C^-1 [y F]
  if (m > 0) rest.noalias() -= state.c.transpose() * state.c;
  state.trend = VectorXd::Zero(q);
  double quadratic = rest(0, 0);
  if (q > 0) {
    const Cholesky normal = cholesky_with_jitter(rest.bottomRightCorner(q, q));
    state.trend = normal.solve(VectorXd(rest.col(0).tail(q)));
    state.trend_lower = normal.lower();
    quadratic -= rest.col(0).tail(q).dot(state.trend);
  }
  const double log_two_pi = std::log(2 * std::acos(-1.0));
  const double log_b = m > 0 ? 2 * state.lower_b.diagonal().array().log().sum() : 0;
  state.log_evidence = -0.5 * (state.log_lambda + log_b + std::max(quadratic, 0.0) + static_cast<double>(state.n) * log_two_pi);
  if (state.method == SparseMethod::vfe) state.log_evidence -= state.gap / (2 * state.noise);
  if (!std::isfinite(state.log_evidence)) throw NumericalError("the evidence is not finite at these parameters.");
}

// What a lane gathers in the second pass.
struct GradientSums {
  VectorXd parameters;
  MatrixXd inducing, weighted;  // dX_u; V g V', lower triangle
  double noise = 0;
};

// What the second pass needs of the first.
struct Backward {
  const SparseProblem& problem;
  const Kernel& kernel;
  const SparseState& state;
  bool inputs;
  VectorXd weights, beta, a;   // (1, -b), beta, L_u^-T beta
  MatrixXd inverse_b, t1, t2;  // L_B^-1, (L_B^-1 L_u^-1)', L_u^-T

  void panel(const Panel& p, const RowRange& rows, GradientSums& sums) const {
    const auto x = problem.x->middleRows(rows.from, rows.count);
    const Index m = state.inducing.rows();
    VectorXd rest = problem.targets->middleRows(rows.from, rows.count) * weights;
    MatrixXd mm(m, rows.count), dk(m, rows.count);
    if (m > 0) {
      rest.noalias() -= p.v.transpose() * beta;
      mm.noalias() = inverse_b.triangularView<Eigen::Lower>() * p.v;
    }
    const VectorXd alpha = p.noise.solve(rest.transpose()).transpose();
    MatrixXd* dx = inputs ? &sums.inducing : nullptr;
    if (p.noise.lambda.size() == 0) {
      const MatrixXd nn = p.noise.solve(mm);
      MatrixXd g = lambda_inverse(p.noise, rows.count);
      if (m > 0) g.noalias() -= nn.transpose() * nn;
      g = 0.5 * (alpha * alpha.transpose() - g);
      sums.noise += g.trace();
      kernel.add_gradient(x, g, sums.parameters);
      if (m == 0) return;
      const MatrixXd vg = p.v * g;
      sums.weighted.triangularView<Eigen::Lower>() += vg * p.v.transpose();
      dk.noalias() = a * alpha.transpose();
      dk.noalias() -= t1.triangularView<Eigen::Upper>() * nn;
      dk.noalias() -= t2.triangularView<Eigen::Upper>() * (2 * vg);
      kernel.add_cross_gradient(state.inducing, x, dk, sums.parameters, dx);
      return;
    }
    const Eigen::ArrayXd w = p.noise.lambda.array().inverse();
    const Eigen::ArrayXd full = 0.5 * (alpha.array().square() - w + w.square() * mm.colwise().squaredNorm().transpose().array());
    sums.noise += full.sum();
    VectorXd g;
    if (problem.method == SparseMethod::fitc) g = full;
    if (problem.method == SparseMethod::vfe) {
      g = VectorXd::Constant(rows.count, -0.5 / state.noise);
      sums.noise += p.gap.sum() / (2 * state.noise * state.noise);
    }
    mm.array().rowwise() *= w.transpose();
    dk.noalias() = a * alpha.transpose();
    dk.noalias() -= t1.triangularView<Eigen::Upper>() * mm;
    if (g.size() > 0) {
      const MatrixXd vg = p.v * g.asDiagonal();
      sums.weighted.triangularView<Eigen::Lower>() += vg * p.v.transpose();
      mm = 2 * vg;
      dk.noalias() -= t2.triangularView<Eigen::Upper>() * mm;
      kernel.add_diagonal_gradient(x, g, sums.parameters);
    }
    kernel.add_cross_gradient(state.inducing, x, dk, sums.parameters, dx);
  }

 private:
  static MatrixXd lambda_inverse(const PanelNoise& noise, Index n) {
    const MatrixXd half = lower_inverse(noise.lower);
    MatrixXd out = MatrixXd::Zero(n, n);
    out.selfadjointView<Eigen::Lower>().rankUpdate(half.transpose());
    out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
    return out;
  }
};

void check_problem(const SparseProblem& problem, double noise) {
  if (problem.x->rows() < 1) throw InputError("there are no rows to learn from.");
  if (problem.targets->rows() != problem.x->rows())
    throw InputError("the response must have as many values as the inputs have rows.");
  if (!(noise > 0) || !std::isfinite(noise)) throw InputError(message("the noise variance must be positive, not ", noise, "."));
  if (problem.method != SparseMethod::pitc) return;
  const std::vector<Index>& blocks = problem.blocks;
  bool sound = blocks.size() >= 2 && blocks.front() == 0 && blocks.back() == problem.x->rows();
  for (std::size_t k = 0; sound && k + 1 < blocks.size(); ++k) sound = blocks[k] <= blocks[k + 1];
  if (!sound) throw InputError("the blocks must cover the rows, one after the other.");
}

}  // namespace

SparseState sparse_state(const SparseProblem& problem, const Kernel& kernel, double noise, const MatrixXd& inducing,
                         const SparseJitter& jitter, Monitor& monitor, SparseGradient* gradient, bool with_inputs) {
  check_problem(problem, noise);
  const Index n = problem.x->rows(), t = problem.targets->cols();
  const bool exact = problem.method == SparseMethod::exact;
  SparseState state;
  state.method = problem.method;
  state.noise = noise;
  state.n = n;
  state.inducing = exact ? MatrixXd(0, problem.x->cols()) : inducing;
  const Index m = state.inducing.rows();
  if (!exact && m < 1) throw InputError("at least one inducing input is needed.");
  const MatrixXd k_uu = m > 0 ? kernel.matrix(state.inducing) : MatrixXd(0, 0);
  state.lower_u = factor_with_jitter(k_uu, jitter, state.jitter);
  const MatrixXd inverse_u = lower_inverse(state.lower_u);
  state.b = MatrixXd::Identity(m, m);
  state.h = MatrixXd::Zero(m, t);
  state.gram = MatrixXd::Zero(t, t);

  const std::vector<RowRange> ranges = row_ranges(problem);
  const bool cached = gradient && static_cast<double>(m) * static_cast<double>(n) * sizeof(double) <= problem.cache_bytes;
  MatrixXd cache(m, cached ? n : 0);
  MatrixXd block;  // of the exact process: its factor is needed again
  {
    std::vector<Sums> sums(lanes, Sums(m, t));
    for_ranges(ranges.size(), problem.threads, monitor, [&](Index lane, std::size_t r) {
      Panel panel;
      fill_panel(panel, problem, ranges[r], kernel, noise, state.inducing, inverse_u, false);
      sums[lane].add(panel, problem.targets->middleRows(ranges[r].from, ranges[r].count));
      if (cached) cache.middleCols(ranges[r].from, ranges[r].count) = panel.v;
      if (exact) block = panel.noise.lower;
    });
    for (const Sums& lane : sums) lane.add_to(state);
  }
  finish(state);

  if (gradient) {
    Backward back{problem,    kernel,     state,      with_inputs, residual_weights(state),
                  VectorXd(), VectorXd(), MatrixXd(), MatrixXd(),  MatrixXd()};
    if (m > 0) {
      back.beta = state.c * back.weights;
      state.lower_b.transpose().triangularView<Eigen::Upper>().solveInPlace(back.beta);
      back.inverse_b = lower_inverse(state.lower_b);
      back.t2 = inverse_u.transpose();
      back.t1 = (back.inverse_b.triangularView<Eigen::Lower>() * inverse_u).transpose();
      back.a = back.t2.triangularView<Eigen::Upper>() * back.beta;
    }
    GradientSums zero;
    zero.parameters = VectorXd::Zero(kernel.n_parameters());
    zero.inducing = MatrixXd::Zero(with_inputs ? m : 0, state.inducing.cols());
    zero.weighted = MatrixXd::Zero(m, m);
    std::vector<GradientSums> sums(lanes, zero);
    for_ranges(ranges.size(), problem.threads, monitor, [&](Index lane, std::size_t r) {
      Panel panel;
      if (exact) {
        panel.v.resize(0, n);
        panel.noise.lower = block;
      } else {
        if (cached) panel.v = cache.middleCols(ranges[r].from, ranges[r].count);
        fill_panel(panel, problem, ranges[r], kernel, noise, state.inducing, inverse_u, cached);
      }
      back.panel(panel, ranges[r], sums[lane]);
    });
    GradientSums total = zero;
    for (const GradientSums& lane : sums) {
      total.parameters += lane.parameters;
      total.inducing += lane.inducing;
      total.weighted += lane.weighted;
      total.noise += lane.noise;
    }
    if (m > 0) {
      MatrixXd inner = MatrixXd::Zero(m, m);
      inner.selfadjointView<Eigen::Lower>().rankUpdate(back.inverse_b.transpose());
      inner += back.beta * back.beta.transpose() - 2 * total.weighted - MatrixXd::Identity(m, m);
      inner.triangularView<Eigen::StrictlyUpper>() = inner.transpose();
      MatrixXd dk_uu = -0.5 * (back.t2 * inner * inverse_u);
      dk_uu.diagonal().array() += state.jitter * dk_uu.trace() / static_cast<double>(m);  // the jitter follows the mean of K_uu
      kernel.add_gradient(state.inducing, dk_uu, total.parameters, with_inputs ? &total.inducing : nullptr);
    }
    gradient->parameters = std::move(total.parameters);
    gradient->log_noise = noise * total.noise;
    gradient->inducing = std::move(total.inducing);
  }
  if (exact) {  // in the form predictions want: L_u is L, c is L^-1 [y F]
    state.inducing = *problem.x;
    state.lower_u = std::move(block);
    state.c = *problem.targets;
    state.lower_u.triangularView<Eigen::Lower>().solveInPlace(state.c);
  }
  return state;
}

void sparse_add_rows(SparseState& state, const SparseProblem& problem, const Kernel& kernel, Monitor& monitor) {
  check_problem(problem, state.noise);
  if (state.method == SparseMethod::exact) throw InputError("rows cannot be added to the statistics of an exact process.");
  const MatrixXd inverse_u = lower_inverse(state.lower_u);
  const std::vector<RowRange> ranges = row_ranges(problem);
  Sums sums(state.b.rows(), problem.targets->cols());
  for (const RowRange& rows : ranges) {
    monitor.check();
    Panel panel;
    fill_panel(panel, problem, rows, kernel, state.noise, state.inducing, inverse_u, false);
    sums.add(panel, problem.targets->middleRows(rows.from, rows.count));
  }
  sums.add_to(state);
  state.n += problem.x->rows();
  finish(state);
}

void check(const SparseState& t) {
  const Index m = t.method == SparseMethod::exact ? t.n : t.inducing.rows();
  require(t.lower_u.rows() == t.lower_u.cols() && t.lower_u.rows() == m, "`lower_u` does not fit the inducing inputs.");
  if (t.method == SparseMethod::exact) require(t.inducing.rows() == t.n, "there is not one inducing input per row.");
  const Index b = t.method == SparseMethod::exact ? t.b.rows() : m;
  require(t.b.rows() == b && t.b.cols() == b && t.lower_b.rows() == b && t.lower_b.cols() == b, "`b` does not fit the inducing inputs.");
  require(t.c.rows() == m && t.h.cols() == t.c.cols() && t.c.cols() == 1 + t.trend.size() && t.gram.rows() == t.c.cols() &&
              t.gram.cols() == t.c.cols(),
          "the statistics of the rows do not fit one another.");
  require(t.trend_lower.rows() == t.trend.size() && t.trend_lower.cols() == t.trend.size(), "`trend_lower` does not fit the trend.");
}

}  // namespace granary::process
