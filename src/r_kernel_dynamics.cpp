// Exports of the learning curves of gradient descent. Conversion only: kernel/sgd_*.h, kernel/committee*.h,
// core/marchenko_pastur.h.
#include "core/math/marchenko_pastur.h"
#include "core/base/parallel.h"
#include "kernel/committee.h"
#include "kernel/committee_simulate.h"
#include "kernel/sgd_dynamics.h"
#include "kernel/sgd_optimize.h"
#include "kernel/sgd_simulate.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::kernel;

namespace {

using MapMatrix = Eigen::Map<Eigen::MatrixXd>;
using MapVector = Eigen::Map<Eigen::VectorXd>;

// The eigenvalues, each of the same weight, or the Marchenko-Pastur law where there are none.
Quadrature spectrum_of(const MapVector& eigenvalues, double alpha, int nodes) {
  if (eigenvalues.size() == 0) return MarchenkoPastur(alpha).quadrature(nodes);
  const Index n = eigenvalues.size();
  return {eigenvalues, VectorXd::Constant(n, 1.0 / static_cast<double>(n))};
}

SgdTheory theory_of(const MapVector& eigenvalues, double alpha) {
  return eigenvalues.size() == 0 ? SgdTheory(MarchenkoPastur(alpha)) : SgdTheory(spectrum_of(eigenvalues, alpha, 0), alpha);
}

Rcpp::List solved(long steps, double seconds) {
  Convergence c;
  c.converged = true;
  c.iterations = static_cast<int>(std::min<long>(steps, std::numeric_limits<int>::max()));
  c.seconds = seconds;
  return as_list(c);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sgd_curve(double alpha, const Eigen::Map<Eigen::VectorXd> eigenvalues, int nodes, double eta, double lambda,
                          double sigma2, const Eigen::Map<Eigen::VectorXd> times, bool online, SEXP progress) {
  RMonitor monitor(progress);
  const Stopwatch watch;
  const SgdModes modes = teacher_modes(spectrum_of(eigenvalues, alpha, nodes), alpha, sigma2);
  const SgdStep step{eta, lambda};
  const SgdCurve curve = online ? online_curve(modes, step, times, {}, monitor) : offline_curve(modes, step, times);
  VectorXd bias(times.size()), variance(times.size());
  for (Index k = 0; k < times.size(); ++k) {
    const VectorXd reached = online ? progress_online(modes, step, times[k]) : progress_offline(modes, step, times[k]);
    const MeanError mean = mean_error(modes, step, reached, sigma2);
    bias[k] = mean.bias;
    variance[k] = mean.variance;
  }
  const VectorXd test = bias + variance + curve.noise;
  return Rcpp::List::create(Rcpp::Named("test") = test, Rcpp::Named("train") = curve.train, Rcpp::Named("bias") = bias,
                            Rcpp::Named("variance") = variance, Rcpp::Named("noise") = curve.noise,
                            Rcpp::Named("train_mean") = curve.train_mean,
                            Rcpp::Named("convergence") = solved(curve.steps, watch.seconds()));
}

// One row per (alpha, lambda): eta_c, eta_min, eta_x, offline limit.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_sgd_rates(const Eigen::Map<Eigen::VectorXd> alpha, const Eigen::Map<Eigen::VectorXd> lambda,
                               const Eigen::Map<Eigen::VectorXd> eigenvalues) {
  MatrixXd result(alpha.size(), 4);
  for (Index i = 0; i < alpha.size(); ++i) {
    const SgdTheory theory = theory_of(eigenvalues, alpha[i]);
    result.row(i) << theory.critical_rate(lambda[i]), theory.slow_mode_rate(lambda[i]), theory.fastest_rate(lambda[i]),
        theory.offline_limit(lambda[i]);
  }
  return result;
}

// One row per setting: test and training error at the end, the test error for eta -> 0, the decay constants of the normal and the
// slow mode.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_sgd_asymptote(const Eigen::Map<Eigen::VectorXd> alpha, const Eigen::Map<Eigen::VectorXd> eta,
                                   const Eigen::Map<Eigen::VectorXd> lambda, const Eigen::Map<Eigen::VectorXd> sigma2,
                                   const Eigen::Map<Eigen::VectorXd> eigenvalues) {
  MatrixXd result(alpha.size(), 5);
  for (Index i = 0; i < alpha.size(); ++i) {
    const SgdTheory theory = theory_of(eigenvalues, alpha[i]);
    const SgdStep step{eta[i], lambda[i]};
    const SgdTheory::Asymptote end = theory.asymptote(step, sigma2[i]);
    result.row(i) << end.test, end.train, end.offline, theory.normal_decay(step), theory.slow_decay(step);
  }
  return result;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sgd_optimize(double alpha, const Eigen::Map<Eigen::VectorXd> eigenvalues, int nodes, double sigma2,
                             const Eigen::Map<Eigen::VectorXd> times, double lambda, bool online, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const Stopwatch watch;
  const SgdProblem problem{spectrum_of(eigenvalues, alpha, nodes), alpha, sigma2, online};
  const SgdTheory theory = theory_of(eigenvalues, alpha);
  const Index count = times.size();
  VectorXd eta(count), penalty(count), test(count);
  std::vector<int> evaluations(count);
  std::atomic<Index> done{0};
  parallel_for(count, threads, monitor, [&](Index k) {
    const SgdOptimum best = best_step(problem, theory, times[k], lambda, monitor);
    eta[k] = best.step.eta;
    penalty[k] = best.step.lambda;
    test[k] = best.test;
    evaluations[k] = best.evaluations;
    monitor.progress(static_cast<double>(++done) / static_cast<double>(count));
  });
  long total = 0;
  for (const int e : evaluations) total += e;
  return Rcpp::List::create(Rcpp::Named("eta") = eta, Rcpp::Named("lambda") = penalty, Rcpp::Named("test") = test,
                            Rcpp::Named("convergence") = solved(total, watch.seconds()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sgd_schedule(const Eigen::Map<Eigen::VectorXd> time, const Eigen::Map<Eigen::VectorXd> eta) {
  const EtaSchedule fit = fit_eta_schedule(time, eta);
  return Rcpp::List::create(Rcpp::Named("a") = fit.a, Rcpp::Named("b") = fit.b, Rcpp::Named("fitted") = fit.fitted,
                            Rcpp::Named("residual") = fit.residual);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sgd_simulate(int weights, int examples, double eta, double lambda, double sigma2, bool sphere,
                             const std::string& order, const Eigen::Map<Eigen::VectorXd> times, int reps,
                             const Rcpp::NumericVector& seed, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const SgdSimulation setting{weights, examples, {eta, lambda}, sigma2, sphere, sgd_order(order)};
  const SgdRuns runs = simulate_sgd(setting, times, reps, make_rng(seed), threads, monitor);
  return Rcpp::List::create(Rcpp::Named("test") = runs.test, Rcpp::Named("train") = runs.train);
}

// `x` and `test_x` have one example per column.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_sgd_simulate_data(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const Eigen::MatrixXd& test_x,
                                  const Eigen::VectorXd& test_y, double eta, double lambda, const std::string& order,
                                  const Eigen::Map<Eigen::VectorXd> times, int reps, const Rcpp::NumericVector& seed, int threads,
                                  SEXP progress) {
  RMonitor monitor(progress);
  const SgdRuns runs =
      simulate_sgd(SgdData{x, y, test_x, test_y}, {eta, lambda}, sgd_order(order), times, reps, make_rng(seed), threads, monitor);
  return Rcpp::List::create(Rcpp::Named("test") = runs.test, Rcpp::Named("train") = runs.train);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sgd_exact(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const Eigen::VectorXd& teacher, bool average_noise,
                          double sigma2, double eta, double lambda, const Eigen::VectorXi& updates, SEXP progress) {
  RMonitor monitor(progress);
  const SgdMoments m = exact_sgd(x, y, teacher, average_noise, sigma2, {eta, lambda}, updates, monitor);
  return Rcpp::List::create(Rcpp::Named("train") = m.train, Rcpp::Named("test") = m.test, Rcpp::Named("mean") = m.mean,
                            Rcpp::Named("variance") = m.variance);
}

// Curves for given data: eigenvalues of X'X/N, squared projections of X'y/sqrt(N), mean of y^2. `progress_share` and `spread` are
// modes x times.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_sgd_data(const Eigen::VectorXd& values, const Eigen::VectorXd& power, double response, double weights,
                         double alpha, double eta, double lambda, const Eigen::Map<Eigen::VectorXd> times, bool online,
                         SEXP progress) {
  RMonitor monitor(progress);
  const Stopwatch watch;
  const SgdModes modes{values, VectorXd::Constant(values.size(), 1 / weights), power, response, alpha};
  const SgdStep step{eta, lambda};
  SgdCurveOptions options;
  options.keep_spread = true;
  SgdCurve curve = online ? online_curve(modes, step, times, options, monitor) : offline_curve(modes, step, times);
  if (!online) curve.spread = MatrixXd::Zero(values.size(), times.size());
  MatrixXd reached(values.size(), times.size());
  for (Index k = 0; k < times.size(); ++k) {
    reached.col(k) = online ? progress_online(modes, step, times[k]) : progress_offline(modes, step, times[k]);
  }
  return Rcpp::List::create(Rcpp::Named("train") = curve.train, Rcpp::Named("train_mean") = curve.train_mean,
                            Rcpp::Named("progress") = reached, Rcpp::Named("spread") = curve.spread,
                            Rcpp::Named("convergence") = solved(curve.steps, watch.seconds()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mp_blocks(double alpha, const Eigen::Map<Eigen::VectorXd> eigenvalues, int blocks) {
  const SpectrumBlocks found = eigenvalues.size() == 0 ? spectrum_blocks(MarchenkoPastur(alpha), blocks)
                                                       : spectrum_blocks(ConstVectorRef(eigenvalues), blocks);
  return Rcpp::List::create(Rcpp::Named("mean") = found.mean, Rcpp::Named("lower") = found.lower,
                            Rcpp::Named("upper") = found.upper);
}

namespace {

// alpha infinite: one block, and no correlation of the weights with the noise.
CommitteeModel committee_model(double alpha, double eta, int students, const MapMatrix& teacher, const MapVector& noise,
                               int blocks, bool linear, bool noisy_test) {
  CommitteeModel model;
  model.students = students;
  model.teachers = static_cast<int>(teacher.rows());
  model.teacher = teacher;
  model.noise = noise;
  model.eta = eta;
  model.linear = linear;
  model.noisy_test = noisy_test;
  model.ratio = VectorXd::Ones(1);
  if (std::isfinite(alpha)) {
    model.ratio = spectrum_blocks(MarchenkoPastur(alpha), blocks).mean / alpha;
    model.inverse_alpha = 1 / alpha;
  }
  return model;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_committee_curve(double alpha, double eta, const Eigen::Map<Eigen::MatrixXd> teacher,
                                const Eigen::Map<Eigen::VectorXd> noise, int blocks, const Eigen::Map<Eigen::MatrixXd> q,
                                const Eigen::Map<Eigen::MatrixXd> r, bool linear, bool noisy_test,
                                const Eigen::Map<Eigen::VectorXd> times, SEXP progress) {
  RMonitor monitor(progress);
  const Stopwatch watch;
  const CommitteeModel model =
      committee_model(alpha, eta, static_cast<int>(q.rows()), teacher, noise, blocks, linear, noisy_test);
  const CommitteeCurve curve = committee_curve(model, q, r, times, {}, monitor);
  return Rcpp::List::create(Rcpp::Named("test") = curve.test, Rcpp::Named("train") = curve.train, Rcpp::Named("q") = curve.q,
                            Rcpp::Named("r") = curve.r, Rcpp::Named("u") = curve.u,
                            Rcpp::Named("least_eigenvalue") = curve.least_eigenvalue,
                            Rcpp::Named("diverged") = curve.ode.diverged, Rcpp::Named("reached") = curve.ode.time,
                            Rcpp::Named("convergence") = solved(curve.ode.steps, watch.seconds()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_committee_simulate(int inputs, int examples, double eta, int students, const Eigen::Map<Eigen::MatrixXd> teacher,
                                   const Eigen::Map<Eigen::VectorXd> noise, double q0, bool linear, bool noisy_test,
                                   bool same_set, const Eigen::Map<Eigen::VectorXd> times, int reps,
                                   const Rcpp::NumericVector& seed, int threads, SEXP progress) {
  RMonitor monitor(progress);
  CommitteeModel model =
      committee_model(std::numeric_limits<double>::infinity(), eta, students, teacher, noise, 1, linear, noisy_test);
  const CommitteeSimulation setting{inputs, examples, q0, same_set};
  const CommitteeRuns runs = simulate_committee(model, setting, times, reps, make_rng(seed), threads, monitor);
  MatrixXd q = MatrixXd::Zero(students * students, times.size()), r = MatrixXd::Zero(students * model.teachers, times.size());
  for (int k = 0; k < reps; ++k) {
    q += runs.q[k] / reps;
    r += runs.r[k] / reps;
  }
  return Rcpp::List::create(Rcpp::Named("test") = runs.test, Rcpp::Named("train") = runs.train, Rcpp::Named("q") = q,
                            Rcpp::Named("r") = r, Rcpp::Named("kurtosis") = runs.kurtosis,
                            Rcpp::Named("activations") = runs.activations);
}
