#include "cluster/vmf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/cluster/seeding.h"
#include "core/cluster/soft_polish.h"
#include "core/math/bessel.h"

namespace granary::cluster {

namespace {

constexpr double bit = 0.69314718055994530942;
constexpr double residual_factor = 100;  // the equations of a converged answer hold to so many `tol`
constexpr double least_share = 1e-10;    // a component with less has no direction to speak of

class Problem {
 public:
  Problem(const DataRows& x, ConstVectorRef weights, const VmfOptions& options, Monitor& monitor)
      : x_(x), weights_(weights), options_(options), monitor_(monitor), d_(static_cast<double>(x.cols())), total_(static_cast<double>(x.rows())) {
    if (weights.size() > 0) total_ = weights.sum();
  }

  // The M-step: parameters from the sums. A component without weight stays where it is, one whose rows cancel keeps its direction and has kappa = 0.
  void maximise(const ClusterSums& sums, VmfKappa kind, VmfParameters& p) const {
    const Index k = sums.weight.size();
    const VectorXd length = sums.first.rowwise().norm();
    const double all = sums.weight.sum();
    const double pooled = capped(length.sum() / all);
    for (Index h = 0; h < k; ++h) {
      const double weight = sums.weight[h];
      p.share[h] = options_.equal_share ? 1 / static_cast<double>(k) : weight / all;
      if (!(weight > 0)) continue;
      const bool cancelled = !(length[h] > 1e-14 * weight);
      if (!cancelled) p.directions.row(h) = sums.first.row(h) / length[h];
      switch (kind) {
        case VmfKappa::free: p.concentration[h] = cancelled ? 0 : capped(length[h] / weight); break;
        case VmfKappa::common: p.concentration[h] = pooled; break;
        case VmfKappa::fixed: p.concentration[h] = options_.fixed_kappa; break;
        case VmfKappa::balanced: p.concentration[h] = std::min(pooled * all / (static_cast<double>(k) * weight), options_.kappa_max); break;
      }
    }
  }

  ScoreModel model(VmfParameters& p) const {
    return [this, &p](const ClusterSums& sums, LinearScores& scores) {
      maximise(sums, options_.kappa, p);
      scores = vmf_scores(p);
    };
  }

  VmfParameters empty_parameters() const {
    const Index k = options_.k;
    return {VectorXd::Constant(k, 1.0 / static_cast<double>(k)), MatrixXd::Zero(k, x_.cols()), VectorXd::Constant(k, options_.start_kappa)};
  }

  VmfParameters start(Rng& rng) const {
    if (options_.parameters.share.size() > 0) return options_.parameters;
    VmfParameters p = empty_parameters();
    if (options_.labels.size() > 0) return from_labels(options_.labels, p);
    if (options_.centers.size() > 0) {
      p.directions = options_.centers;
    } else if (options_.start == VmfStart::perturb) {
      perturbed(rng, p);
      return p;
    } else {
      const std::vector<Index> rows = seeds(rng);
      VectorXd row(x_.cols());
      for (Index h = 0; h < options_.k; ++h) {
        x_.row(rows[static_cast<std::size_t>(h)], row);
        p.directions.row(h) = row.transpose();
      }
    }
    return from_labels(best_scores(x_, {p.directions, VectorXd::Zero(options_.k)}, options_.threads, monitor_).cluster, p);
  }

  // A common kappa and equal shares: a cluster of a single row would have no kappa.
  VmfParameters from_labels(const VectorXi& label, VmfParameters p) const {
    const ClusterSums sums = cluster_sums(x_, weights_, label, options_.k);
    maximise(sums, options_.kappa == VmfKappa::fixed ? VmfKappa::fixed : VmfKappa::common, p);
    p.share.setConstant(1.0 / static_cast<double>(options_.k));
    for (Index h = 0; h < options_.k; ++h)
      if (p.directions.row(h).squaredNorm() == 0) p.directions(h, h % x_.cols()) = 1;  // rows that cancel
    return p;
  }

  // `soft` receives where the soft iterations ended.
  VmfResult run(Rng& rng, SoftResult& soft) const {
    VmfParameters p = start(rng);
    VmfResult out;
    out.log_uniform = log_sphere_density(d_);
    LinearScores scores = vmf_scores(p);
    ClusterSums sums;
    if (options_.type != VmfType::hard) {
      SoftOptions how;
      how.max_iter = options_.max_iter;
      how.tol = options_.tol;
      how.kind = options_.type == VmfType::stochastic ? Membership::drawn : Membership::soft;
      how.keep_best = options_.type == VmfType::stochastic || options_.method != VmfEstimator::exact;
      if (options_.type == VmfType::hybrid) how.stop_entropy = options_.entropy * bit;
      how.plateau_entropy = plateau();
      how.plateau_tol = 1e-6 * options_.tol;
      how.threads = options_.threads;
      soft = soft_clusters(x_, weights_, scores, model(p), how, rng, monitor_);
      sums = soft.sums;
      scores = soft.scores;
      maximise(sums, options_.kappa, p);
      out.trace = soft.trace;
      out.entropy = soft.entropy;
      for (double& e : out.entropy) e /= bit;
      out.convergence = soft.convergence;
      out.objective = soft.last.value;
    }
    if (options_.type == VmfType::hard || options_.type == VmfType::hybrid) {
      HardOptions how;
      how.max_iter = std::max(1, options_.max_iter - out.convergence.iterations);
      how.threads = options_.threads;
      HardResult found = hard_clusters(x_, weights_, VectorXd(), scores, model(p), how, monitor_);
      sums = std::move(found.sums);
      scores = std::move(found.scores);
      out.cluster = std::move(found.cluster);
      out.refilled = found.refilled;
      for (const double loss : found.trace) out.trace.push_back(-loss);
      found.convergence.iterations += out.convergence.iterations;
      out.convergence = found.convergence;
      out.objective = -found.objective;
    }
    for (double& value : out.trace) value += total_ * out.log_uniform;
    out.objective += total_ * out.log_uniform;
    out.parameters = std::move(p);
    out.scores = std::move(scores);
    out.degenerate = collapsed(sums, out.parameters);
    return out;
  }

  // The best start of a soft mixture, on to where its equations hold.
  void settle(VmfResult& out, SoftResult soft) const {
    if (options_.type != VmfType::soft || (!soft.convergence.converged && soft.last.entropy > plateau())) return;
    PolishOptions how;
    how.max_iter = options_.max_iter;
    how.tol = std::max(residual_factor * options_.tol, 1e-12);
    how.threads = options_.threads;
    VmfParameters p = out.parameters;
    const auto step = [this](const ClusterSums& before, const ClusterSums& after) { return moved(before, after); };
    const auto inside = [](const ClusterSums& sums) {
      const VectorXd length = sums.first.rowwise().norm();
      return sums.weight.minCoeff() > 0 && (length.array() <= (1 - 1e-12) * sums.weight.array()).all();
    };
    const std::size_t known = soft.trace.size();
    soft = polish_soft(x_, weights_, std::move(soft), model(p), step, inside, how, monitor_);
    maximise(soft.sums, options_.kappa, p);
    for (std::size_t i = known; i < soft.trace.size(); ++i) {
      out.trace.push_back(soft.trace[i] + total_ * out.log_uniform);
      out.entropy.push_back(soft.entropy[i] / bit);
    }
    out.objective = soft.last.value + total_ * out.log_uniform;
    out.convergence = soft.convergence;
    out.degenerate = collapsed(soft.sums, p);
    out.parameters = std::move(p);
    out.scores = std::move(soft.scores);
  }

  // What is only wanted of the best start: memberships, the three likelihoods, and how far one more step would go.
  void finish(VmfResult& out) const {
    const bool hard = out.cluster.size() > 0;
    const SoftPass last = soft_pass(x_, weights_, out.scores, Membership::soft, 0, hard ? nullptr : &out.membership, options_.threads, monitor_);
    const double constant = total_ * out.log_uniform;
    out.complete = last.complete + constant;
    out.classification = last.hard + constant;
    out.loglik = last.value + constant;
    if (!hard) {
      out.cluster.resize(x_.rows());
      for (Index i = 0; i < x_.rows(); ++i) {
        Index best = 0;
        out.membership.row(i).maxCoeff(&best);
        out.cluster[i] = static_cast<int>(best);
      }
    }
    const ClusterSums sums = hard ? cluster_sums(x_, weights_, out.cluster, options_.k) : last.sums;
    const VectorXd length = sums.first.rowwise().norm();
    out.resultant = VectorXd::Zero(options_.k);
    double share = 0;
    for (Index h = 0; h < options_.k; ++h) {
      const double weight = sums.weight[h], kappa = out.parameters.concentration[h];
      if (!options_.equal_share) share = std::max(share, std::abs(out.parameters.share[h] - weight / total_));
      if (!(weight > least_share * total_)) continue;
      out.resultant[h] = std::min(length[h] / weight, 1.0);
      if (length[h] > 1e-14 * weight)
        out.direction_residual = std::max(out.direction_residual, (out.parameters.directions.row(h) - sums.first.row(h) / length[h]).norm());
      if (options_.kappa == VmfKappa::free && !out.degenerate[static_cast<std::size_t>(h)])
        out.resultant_residual = std::max(out.resultant_residual, std::abs(vmf_resultant(d_, kappa) - out.resultant[h]));
    }
    if (options_.kappa == VmfKappa::common && !out.degenerate[0])
      out.resultant_residual = std::abs(vmf_resultant(d_, out.parameters.concentration[0]) - std::min(length.sum() / sums.weight.sum(), 1.0));
    // An approximate kappa does not solve its equation; that is no lack of iterations.
    const double solved = options_.method == VmfEstimator::exact ? out.resultant_residual : 0;
    out.convergence.residual = std::max({out.direction_residual, solved, share});
    if (options_.type != VmfType::stochastic && !(out.convergence.residual <= 2 * residual_factor * options_.tol + 1e-9)) out.convergence.converged = false;
  }

 private:
  double plateau() const {
    return options_.k > 1 ? 0.98 * std::log(static_cast<double>(options_.k)) : std::numeric_limits<double>::infinity();
  }

  // The larger of the changes of directions, mean resultant lengths and shares; components without rows do not count.
  double moved(const ClusterSums& before, const ClusterSums& after) const {
    const VectorXd was = before.first.rowwise().norm(), is = after.first.rowwise().norm();
    double out = 0;
    for (Index h = 0; h < was.size(); ++h) {
      if (!options_.equal_share) out = std::max(out, std::abs(after.weight[h] - before.weight[h]) / total_);
      if (!(after.weight[h] > least_share * total_) || !(before.weight[h] > 0)) continue;
      if (is[h] > 1e-14 * after.weight[h] && was[h] > 1e-14 * before.weight[h])
        out = std::max(out, (after.first.row(h) / is[h] - before.first.row(h) / was[h]).norm());
      if (options_.kappa == VmfKappa::free) out = std::max(out, std::abs(is[h] / after.weight[h] - was[h] / before.weight[h]));
    }
    if (options_.kappa == VmfKappa::common) out = std::max(out, std::abs(is.sum() - was.sum()) / total_);
    return out;
  }

  std::vector<bool> collapsed(const ClusterSums& sums, const VmfParameters& p) const {
    const double cap = options_.kappa_max * (1 - 1e-12);
    std::vector<bool> out;
    for (Index h = 0; h < options_.k; ++h) out.push_back(options_.kappa != VmfKappa::fixed && sums.weight[h] > 0 && p.concentration[h] >= cap);
    return out;
  }

  double capped(double r) const { return std::min(estimate_concentration(options_.method, d_, std::min(r, 1.0)), options_.kappa_max); }

  // Paper, section 6: the mean direction of all rows, slightly shaken for each component.
  void perturbed(Rng& rng, VmfParameters& p) const {
    MatrixXd sum = MatrixXd::Zero(1, x_.cols());
    for (Index i = 0; i < x_.rows(); ++i) x_.add_row(i, weights_.size() > 0 ? weights_[i] : 1, sum, 0);
    const double length = sum.norm();
    VectorXd middle = length > 1e-14 * total_ ? VectorXd(sum.row(0).transpose() / length) : rng.normals(x_.cols()).normalized();
    for (Index h = 0; h < options_.k; ++h) p.directions.row(h) = (middle + 0.01 / std::sqrt(d_) * rng.normals(x_.cols())).normalized().transpose();
    if (options_.kappa == VmfKappa::fixed) p.concentration.setConstant(options_.fixed_kappa);
  }

  std::vector<Index> seeds(Rng& rng) const {
    const Index n = x_.rows(), k = options_.k;
    std::vector<Index> rows;
    if (options_.start == VmfStart::plusplus) rows = cosine_seeds(x_, weights_, k, rng, monitor_);
    const VectorXd mass = weights_.size() > 0 ? VectorXd(weights_) : VectorXd::Ones(n);
    const Index usable = (mass.array() > 0).count();
    while (static_cast<Index>(rows.size()) < k) {  // rows at random, or fewer distinct rows than clusters
      const Index i = draw_index(mass, rng.uniform());
      if (std::find(rows.begin(), rows.end(), i) == rows.end() || static_cast<Index>(rows.size()) >= usable) rows.push_back(i);
    }
    return rows;
  }

  const DataRows& x_;
  ConstVectorRef weights_;
  const VmfOptions& options_;
  Monitor& monitor_;
  double d_, total_;
};

void check_options(const DataRows& x, ConstVectorRef weights, const VmfOptions& options) {
  if (x.cols() < 2) throw InputError("directions need at least two columns.");
  if (options.k < 1 || options.k > x.rows())
    throw InputError(message("the number of clusters must be between 1 and the number of rows, ", x.rows(), ", not ", options.k, "."));
  if (weights.size() > 0 && weights.size() != x.rows()) throw InputError(message("there are ", weights.size(), " weights for ", x.rows(), " rows."));
  if (!(options.kappa_max > 0)) throw InputError(message("`kappa_max` must be positive, not ", options.kappa_max, "."));
  const auto fits = [&](const MatrixXd& m) { return m.rows() == options.k && m.cols() == x.cols(); };
  if (options.centers.size() > 0 && !fits(options.centers))
    throw InputError(message("the directions to start from must be ", options.k, " x ", x.cols(), ", not ", options.centers.rows(), " x ", options.centers.cols(), "."));
  if (options.labels.size() > 0 && (options.labels.size() != x.rows() || options.labels.minCoeff() < 0 || options.labels.maxCoeff() >= options.k))
    throw InputError(message("the labels to start from must be ", x.rows(), " numbers from 1 to ", options.k, "."));
  const VmfParameters& p = options.parameters;
  if (p.share.size() > 0 && !(fits(p.directions) && p.share.size() == options.k && p.concentration.size() == options.k))
    throw InputError(message("the parameters to start from must be those of ", options.k, " components in ", x.cols(), " columns."));
}

}  // namespace

double estimate_concentration(VmfEstimator estimator, double d, double r) {
  if (!(d >= 2 && r >= 0 && r <= 1)) return std::numeric_limits<double>::quiet_NaN();
  const double r2 = r * r;
  switch (estimator) {
    case VmfEstimator::exact: return vmf_concentration(d, r);
    case VmfEstimator::banerjee: return (d - r2) * r / ((1 - r) * (1 + r));
    case VmfEstimator::large: return (d - 1) / (2 * (1 - r));
    case VmfEstimator::small: return d * r * (1 + d / (d + 2) * r2 + d * d * (d + 8) / ((d + 2) * (d + 2) * (d + 4)) * r2 * r2);
  }
  throw InputError("a value without a name.");
}

LinearScores vmf_scores(const VmfParameters& p) {
  LinearScores out{p.directions.array().colwise() * p.concentration.array(), VectorXd(p.share.size())};
  const double d = static_cast<double>(p.directions.cols());
  for (Index h = 0; h < p.share.size(); ++h) out.bias[h] = p.share[h] > 0 ? log_vmf_constant(d, p.concentration[h]) + std::log(p.share[h]) : -1e30;
  return out;
}

void check_distinct(const DataRows& x, Index k) {
  if (k < 2) return;
  Rng rng(1);  // rows that differ have different products with a random vector
  const VectorXd along = rng.normals(x.cols());
  MatrixXd product(x.rows(), 1);
  x.scores(0, along.transpose(), VectorXd::Zero(1), product);
  std::sort(product.data(), product.data() + product.size());
  Index distinct = 1;
  for (Index i = 1; i < x.rows() && distinct < k; ++i)
    if (product(i, 0) - product(i - 1, 0) > 1e-12) ++distinct;
  if (distinct < k) throw InputError(message("`k` must be at most the number of different directions, ", distinct, ", not ", k, "."));
}

std::vector<Index> cosine_seeds(const DataRows& x, ConstVectorRef weights, Index k, Rng& rng, Monitor& monitor) {
  SeedOptions how;
  how.rounds = k;
  VectorXd row(x.cols());
  const VectorXd one = VectorXd::Ones(1);
  const auto divergence = [&](Index i) -> VectorXd {
    x.row(i, row);
    MatrixXd score(x.rows(), 1);
    x.scores(0, -row.transpose(), one, score);  // 1 - x_r'x_i
    for (Index r = 0; r < x.rows(); ++r)
      if (!(score(r, 0) > 1e-14)) score(r, 0) = 0;
    return score.col(0);
  };
  return spread_seeds(x.rows(), weights, how, divergence, rng, monitor).rows;
}

VmfResult vmf_mixture(const DataRows& x, ConstVectorRef weights, const VmfOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  check_options(x, weights, options);
  check_distinct(x, options.k);
  const Problem problem(x, weights, options, monitor);
  const bool given = options.centers.size() > 0 || options.labels.size() > 0 || options.parameters.share.size() > 0;
  const int starts = given || options.k == 1 ? 1 : std::max(1, options.n_starts);
  const auto collapsed = [](const VmfResult& r) { return std::count(r.degenerate.begin(), r.degenerate.end(), true); };
  VmfResult best;
  SoftResult best_soft;
  int chosen = 0;
  VectorXd values(starts);
  for (int s = 0; s < starts; ++s) {
    monitor.progress(static_cast<double>(s) / starts);
    Rng own = rng.stream(static_cast<std::uint64_t>(s));
    SoftResult soft;
    VmfResult run = problem.run(own, soft);
    values[s] = run.objective;
    const auto mine = collapsed(run), theirs = s > 0 ? collapsed(best) : 0;
    if (s > 0 && !(mine < theirs || (mine == theirs && run.objective > best.objective))) continue;
    best = std::move(run);
    best_soft = std::move(soft);
    chosen = s;
  }
  problem.settle(best, std::move(best_soft));
  values[chosen] = best.objective;
  problem.finish(best);
  best.values = values;
  best.convergence.seconds = clock.seconds();
  return best;
}

VmfLaw vmf_law(const DataRows& x, ConstVectorRef weights, VmfEstimator estimator, double kappa_max) {
  if (x.cols() < 2) throw InputError("directions need at least two columns.");
  MatrixXd sum = MatrixXd::Zero(1, x.cols());
  VmfLaw out;
  for (Index i = 0; i < x.rows(); ++i) {
    const double w = weights.size() > 0 ? weights[i] : 1;
    x.add_row(i, w, sum, 0);
    out.n += w;
  }
  const double d = static_cast<double>(x.cols()), length = sum.norm();
  out.resultant = std::min(length / out.n, 1.0);
  if (!(out.resultant > 1e-14)) out.resultant = 0;
  out.direction = out.resultant > 0 ? VectorXd(sum.row(0).transpose() / length) : VectorXd(VectorXd::Unit(x.cols(), 0));
  out.concentration = std::min(estimate_concentration(estimator, d, out.resultant), kappa_max);
  out.std_error = 1 / std::sqrt(out.n * vmf_resultant_slope(d, out.concentration));
  out.loglik = out.n * (log_sphere_density(d) + log_vmf_constant(d, out.concentration) + out.concentration * out.resultant);
  return out;
}

VmfRows vmf_rows(const DataRows& x, const VmfParameters& p, int threads, Monitor& monitor) {
  if (x.cols() != p.directions.cols()) throw InputError(message("the directions have ", p.directions.cols(), " columns, the rows ", x.cols(), "."));
  const LinearScores scores = vmf_scores(p);
  const BestScores best = best_scores(x, scores, threads, monitor);
  VmfRows out;
  out.cluster = best.cluster;
  soft_pass(x, VectorXd(), scores, Membership::soft, 0, &out.membership, threads, monitor);
  out.log_density.resize(x.rows());
  const double uniform = log_sphere_density(static_cast<double>(x.cols()));
  for (Index i = 0; i < x.rows(); ++i)  // log sum_h exp s_h = s_z - log p_z
    out.log_density[i] = uniform + best.score[i] - std::log(out.membership(i, best.cluster[i]));
  return out;
}

VectorXd vmf_table(VmfTable what, ConstVectorRef at, double d, VmfEstimator estimator) {
  VectorXd out(at.size());
  for (Index i = 0; i < at.size(); ++i) {
    switch (what) {
      case VmfTable::constant: out[i] = log_sphere_density(d) + log_vmf_constant(d, at[i]); break;
      case VmfTable::resultant: out[i] = vmf_resultant(d, at[i]); break;
      case VmfTable::slope: out[i] = vmf_resultant_slope(d, at[i]); break;
      case VmfTable::kappa: out[i] = estimate_concentration(estimator, d, at[i]); break;
      case VmfTable::lower: out[i] = vmf_concentration_bounds(d, at[i]).lower; break;
      case VmfTable::upper: out[i] = vmf_concentration_bounds(d, at[i]).upper; break;
    }
  }
  return out;
}

}  // namespace granary::cluster
