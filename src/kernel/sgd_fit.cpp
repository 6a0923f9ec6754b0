#include "kernel/sgd_fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Quadrature quadrature_of(ConstVectorRef spectrum, double alpha, int nodes) {
  if (spectrum.size() == 0) return MarchenkoPastur(alpha).quadrature(nodes);
  return {spectrum, VectorXd::Constant(spectrum.size(), 1.0 / static_cast<double>(spectrum.size()))};
}

SgdTheory theory_of(ConstVectorRef spectrum, double alpha) {
  return spectrum.size() == 0 ? SgdTheory(MarchenkoPastur(alpha)) : SgdTheory(quadrature_of(spectrum, alpha, 0), alpha);
}

// The equation was solved to its tolerance, or an exception was thrown.
Convergence solved(long steps, const Stopwatch& watch) {
  Convergence c;
  c.converged = true;
  c.iterations = static_cast<int>(std::min<long>(steps, std::numeric_limits<int>::max()));
  c.seconds = watch.seconds();
  return c;
}

SgdCurve curve_of(const SgdModes& modes, const SgdSetting& s, ConstVectorRef times, const SgdCurveOptions& options,
                  Monitor& monitor) {
  const SgdStep step{s.eta, s.lambda};
  return s.method == SgdMethod::online ? online_curve(modes, step, times, options, monitor) : offline_curve(modes, step, times);
}

VectorXd progress_of(const SgdModes& modes, const SgdSetting& s, double time) {
  const SgdStep step{s.eta, s.lambda};
  return s.method == SgdMethod::online ? progress_online(modes, step, time) : progress_offline(modes, step, time);
}

SgdLimits limits_of(const SgdTheory& theory, const SgdStep& step, double sigma2) {
  SgdLimits out;
  out.eta_c = theory.critical_rate(step.lambda);
  out.eta_min = theory.slow_mode_rate(step.lambda);
  out.eta_x = theory.fastest_rate(step.lambda);
  out.offline = theory.offline_limit(step.lambda);
  const SgdTheory::Asymptote end = theory.asymptote(step, sigma2);
  out.test = end.test;
  out.train = end.train;
  out.ridge = end.offline;
  out.decay = theory.normal_decay(step);
  out.decay_slow = theory.slow_decay(step);
  return out;
}

}  // namespace

SgdCurveFit sgd_curve(const SgdSetting& s, ConstVectorRef times, Monitor& monitor) {
  const Stopwatch watch;
  const SgdModes modes = teacher_modes(quadrature_of(s.spectrum, s.alpha, s.nodes), s.alpha, s.sigma2);
  const SgdCurve curve = curve_of(modes, s, times, {}, monitor);
  SgdCurveFit out;
  out.bias.resize(times.size());
  out.variance.resize(times.size());
  for (Index k = 0; k < times.size(); ++k) {
    const MeanError mean = mean_error(modes, {s.eta, s.lambda}, progress_of(modes, s, times[k]), s.sigma2);
    out.bias[k] = mean.bias;
    out.variance[k] = mean.variance;
  }
  out.test = out.bias + out.variance + curve.noise;
  out.train = curve.train;
  out.noise = curve.noise;
  out.train_mean = curve.train_mean;
  out.convergence = solved(curve.steps, watch);
  return out;
}

std::vector<SgdLimits> sgd_limits(const SgdGrid& g) {
  if (g.eta.size() != g.alpha.size() || g.lambda.size() != g.alpha.size() || g.sigma2.size() != g.alpha.size())
    throw InputError("settings side by side must have equal lengths.");
  std::vector<SgdLimits> out;
  for (Index i = 0; i < g.alpha.size(); ++i)
    out.push_back(limits_of(theory_of(g.spectrum, g.alpha[i]), {g.eta[i], g.lambda[i]}, g.sigma2[i]));
  return out;
}

SgdOptima sgd_optima(const SgdSetting& s, ConstVectorRef times, Monitor& monitor) {
  const Stopwatch watch;
  const SgdProblem problem{quadrature_of(s.spectrum, s.alpha, s.nodes), s.alpha, s.sigma2, s.method == SgdMethod::online};
  const SgdTheory theory = theory_of(s.spectrum, s.alpha);
  const Index count = times.size();
  SgdOptima out{VectorXd(count), VectorXd(count), VectorXd(count), {}};
  std::vector<int> evaluations(static_cast<std::size_t>(count));
  std::atomic<Index> done{0};
  parallel_for(count, s.threads, monitor, [&](Index k) {
    const SgdOptimum best = best_step(problem, theory, times[k], s.lambda, monitor);
    out.eta[k] = best.step.eta;
    out.lambda[k] = best.step.lambda;
    out.test[k] = best.test;
    evaluations[static_cast<std::size_t>(k)] = best.evaluations;
    monitor.progress(static_cast<double>(++done) / static_cast<double>(count));
  });
  long total = 0;
  for (const int e : evaluations) total += e;
  out.convergence = solved(total, watch);
  return out;
}

SgdDataFit sgd_on_data(ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef new_x, ConstVectorRef new_y, const SgdSetting& s,
                       ConstVectorRef times, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = x.cols();
  const double root = std::sqrt(static_cast<double>(n));
  if (y.size() != x.rows() || new_y.size() != new_x.rows() || (new_x.rows() > 0 && new_x.cols() != n))
    throw InputError("rows and responses, old and new, must fit together.");
  const Svd parts(x / root, SvdParts::thin);
  const VectorXd& d = parts.singularValues();
  Index kept = 0;
  const double least = static_cast<double>(std::max(x.rows(), x.cols())) * std::numeric_limits<double>::epsilon() * d[0];
  while (kept < d.size() && d[kept] > least) ++kept;
  if (kept == 0) throw InputError("the rows do not vary.");
  const VectorXd value = d.head(kept).cwiseAbs2();
  const VectorXd z = d.head(kept).cwiseProduct(parts.matrixU().leftCols(kept).transpose() * y);
  const MatrixXd vectors = parts.matrixV().leftCols(kept);

  const SgdModes modes{value, VectorXd::Constant(kept, 1 / static_cast<double>(n)), z.cwiseAbs2(),
                       y.squaredNorm() / static_cast<double>(y.size()), s.alpha};
  SgdCurveOptions options;
  options.keep_spread = true;
  const SgdCurve curve = curve_of(modes, s, times, options, monitor);
  const VectorXd end = z.cwiseQuotient((value.array() + s.lambda).matrix());
  SgdDataFit out;
  out.train = curve.train;
  out.noise = curve.train - curve.train_mean;
  for (Index k = 0; k < out.noise.size(); ++k)
    if (!std::isfinite(out.noise[k])) out.noise[k] = infinity;
  const MatrixXd new_z = new_x.rows() > 0 ? MatrixXd(new_x * vectors) : MatrixXd(0, kept);
  const VectorXd along = new_x.rows() > 0 ? VectorXd(new_z.cwiseAbs2().colwise().mean().transpose()) : VectorXd::Zero(kept);
  out.test.resize(new_x.rows() > 0 ? times.size() : 0);
  for (Index k = 0; k < times.size(); ++k) {
    const VectorXd mean = progress_of(modes, s, times[k]).cwiseProduct(end);
    if (k + 1 == times.size()) out.weights = vectors * mean;
    if (out.test.size() == 0) continue;
    const double spread = s.method == SgdMethod::online ? curve.spread.col(k).dot(along) / static_cast<double>(n) : 0;
    const double error = (new_y - new_z * mean / root).squaredNorm() / (2 * static_cast<double>(new_y.size())) + spread;
    out.test[k] = std::isfinite(error) ? error : infinity;
  }
  out.spectrum = VectorXd::Zero(n);
  out.spectrum.head(kept) = value;
  out.limits = limits_of(theory_of(out.spectrum, s.alpha), {s.eta, s.lambda}, s.sigma2);
  out.convergence = solved(curve.steps, watch);
  return out;
}

SpectrumBlocks sgd_blocks(double alpha, ConstVectorRef spectrum, int blocks) {
  return spectrum.size() == 0 ? spectrum_blocks(MarchenkoPastur(alpha), blocks) : spectrum_blocks(spectrum, blocks);
}

}  // namespace granary::kernel
