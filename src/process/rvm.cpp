#include "process/rvm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/optim/lbfgs.h"

namespace granary::process {

namespace {

// Columns of unit mean square, y likewise.
struct Scaled {
  MatrixXd phi;
  VectorXd y, column_scale;
  double y_scale = 1;
  Scaled(ConstMatrixRef phi_in, ConstVectorRef y_in) : phi(phi_in), y(y_in), column_scale(phi_in.cols()) {
    const double n = static_cast<double>(y.size());
    for (Index k = 0; k < phi.cols(); ++k) {
      const double size = std::sqrt(phi.col(k).squaredNorm() / n);
      column_scale[k] = size > 0 ? size : 1;
      phi.col(k) /= column_scale[k];
    }
    const double size = std::sqrt(y.squaredNorm() / n);
    if (size > 0) y_scale = size;
    y /= y_scale;
  }
};

// The columns in use and what follows from them.
struct Model {
  std::vector<Index> active;
  VectorXd alpha, mean;
  MatrixXd covariance;
  double noise = 0.1, evidence = 0;

  Index size() const { return static_cast<Index>(active.size()); }
};

VectorXd gammas(const Model& model) { return (1 - model.alpha.array() * model.covariance.diagonal().array()).max(0.0); }

// S, mu and the evidence from scratch. `gram` is Phi_A' Phi_A, `projection` Phi_A' y.
//
// With D = A^-1/2 the system is B = I + beta D Phi'Phi D, whose eigenvalues are at least one. Where its largest is beyond 1e9, columns
// that nearly repeat one another have eaten up the digits of the Gram matrix, and [sqrt(beta) Phi D; I] = Q R takes its place, whose
// condition number is the square root. The quadratic form is the sum of squares that mu leaves, so that nothing cancels.
void refresh(Model& model, const MatrixXd& gram, const VectorXd& projection, const Scaled& data) {
  const Index m = model.size(), rows = data.y.size();
  const double n = static_cast<double>(rows), beta = 1 / model.noise;
  double log_det = 0;
  VectorXd rest = data.y;
  if (m > 0) {
    const VectorXd d = model.alpha.cwiseSqrt().cwiseInverse();
    MatrixXd root;  // upper triangular, root'root = B
    VectorXd z;     // B^-1 sqrt(beta) D Phi'y
    MatrixXd inner = beta * (d.asDiagonal() * gram * d.asDiagonal());
    inner.diagonal().array() += 1;
    const bool stable = inner.trace() < 1e9;
    if (stable) {
      const Llt factor(inner);
      if (factor.info() != Eigen::Success) throw NumericalError("the system of the relevance vectors is singular.");
      root = factor.matrixL().toDenseMatrix().transpose();
      z = factor.solve(VectorXd(std::sqrt(beta) * d.cwiseProduct(projection)));
    } else {
      MatrixXd tall = MatrixXd::Zero(rows + m, m);
      for (Index k = 0; k < m; ++k) tall.col(k).head(rows) = (std::sqrt(beta) * d[k]) * data.phi.col(model.active[k]);
      tall.bottomRows(m).setIdentity();
      VectorXd right = VectorXd::Zero(rows + m);
      right.head(rows) = data.y;
      const Qr qr(tall);
      root = qr.r().topRows(m);
      z = qr.solve(right);
    }
    MatrixXd half = d.asDiagonal().toDenseMatrix();
    root.transpose().triangularView<Eigen::Lower>().solveInPlace(half);  // R'^-1 D
    model.covariance.noalias() = half.transpose() * half;
    model.mean = std::sqrt(beta) * d.cwiseProduct(z);
    log_det = 2 * root.diagonal().cwiseAbs().array().log().sum();
    for (Index k = 0; k < m; ++k) rest.noalias() -= model.mean[k] * data.phi.col(model.active[k]);
  } else {
    model.covariance.resize(0, 0);
    model.mean.resize(0);
  }
  const double quadratic = beta * rest.squaredNorm() + (m > 0 ? model.mean.cwiseAbs2().dot(model.alpha) : 0);
  model.evidence = -0.5 * (n * std::log(2 * std::acos(-1.0) * model.noise) + log_det + quadratic);
}

// Whether evidence `is` is no less than `was`, up to rounding.
bool no_less(double is, double was) { return is >= was - 1e-10 * (1 + std::abs(was)); }

double residual_noise(const Model& model, const Scaled& data) {
  VectorXd rest = data.y;
  for (Index k = 0; k < model.size(); ++k) rest -= model.mean[k] * data.phi.col(model.active[k]);
  const double n = static_cast<double>(data.y.size());
  const double freedom = std::max(n - gammas(model).sum(), 1e-3 * n);
  return std::max(rest.squaredNorm() / freedom, 1e-10);
}

class Fast {
 public:
  Fast(const Scaled& data, const RvmOptions& options, double noise, Monitor& monitor)
      : data_(data), options_(options), monitor_(monitor), columns_(data.phi.cols()) {
    model_.noise = noise;
    projection_ = data.phi.transpose() * data.y;
    norms_ = data.phi.colwise().squaredNorm().transpose();
    position_.assign(static_cast<std::size_t>(columns_), -1);
    // First the column with the largest projection; its precision is the stationary point for it alone.
    Index first = 0;
    (projection_.array().square() / norms_.array().max(1e-300)).maxCoeff(&first);
    if (norms_[first] > 0) {
      const double excess = projection_[first] * projection_[first] / norms_[first] - noise;
      if (excess > 0) append(first, norms_[first] / excess);
    }
    rebuild();
  }

  // Steps change S, mu, the factors and the evidence by formulas of rank one; every few of them all is made again from scratch, and
  // only what stands that test is kept. Where it does not, the steps are made again one by one, each tested by itself, and a step that
  // fails is not tried again until another one was taken.
  Model run(std::vector<double>& trace, Convergence& convergence) {
    trace.push_back(model_.evidence);
    best_ = snapshot();
    refused_.assign(static_cast<std::size_t>(columns_), 0);
    int since = 0, careful = 0;
    bool any_refused = false;
    for (int step = 1; step <= options_.max_iter; ++step) {
      monitor_.check();
      convergence.iterations = step;
      const Action action = best_action();
      const bool settled = action.kind == Kind::none;
      if (!settled) apply(action);
      ++since;
      if (!settled && careful == 0 && since < 5 + model_.size() / 4) continue;
      rebuild();
      if (!no_less(model_.evidence, best_.evidence)) {
        restore();
        if (careful > 0 && !settled) {
          refused_[static_cast<std::size_t>(action.column)] = 1;
          any_refused = true;
        }
        careful = std::max(careful, 2 * since + 10);
        since = 0;
        continue;
      }
      if (careful > 0) --careful;
      if (!settled && any_refused) {
        refused_.assign(refused_.size(), 0);
        any_refused = false;
      }
      best_ = snapshot();
      trace.push_back(model_.evidence);
      since = 0;
      double change = 0;
      if (!(options_.noise > 0)) {
        change = update_noise();
        best_ = snapshot();
        trace.push_back(model_.evidence);
      }
      if (settled && change < options_.tol) {
        convergence.converged = true;
        break;
      }
    }
    restore();
    if (convergence.converged && any_refused) {
      convergence.message = "as far as rounding errors of nearly equal columns allow";
      convergence.reason = Stop::stalled;
    }
    return model_;
  }

 private:
  enum class Kind { none, add, remove, change };
  struct Action {
    Kind kind = Kind::none;
    Index column = -1;
    double alpha = 0, gain = 0;
  };

  struct Snapshot {
    std::vector<Index> active;
    VectorXd alpha;
    double noise = 0, evidence = 0;
  };
  Snapshot snapshot() const { return {model_.active, model_.alpha, model_.noise, model_.evidence}; }
  void restore() {
    if (model_.active == best_.active) {
      model_.alpha = best_.alpha;
    } else {
      position_.assign(static_cast<std::size_t>(columns_), -1);
      model_.active.clear();
      model_.alpha.resize(0);
      for (std::size_t k = 0; k < best_.active.size(); ++k) append(best_.active[k], best_.alpha[static_cast<Index>(k)]);
    }
    model_.noise = best_.noise;
    rebuild();
  }

  void append(Index column, double alpha) {
    position_[column] = model_.size();
    model_.active.push_back(column);
    model_.alpha.conservativeResize(model_.size());
    model_.alpha[model_.size() - 1] = alpha;
    if (gram_.cols() < model_.size()) gram_.conservativeResize(columns_, std::max<Index>(8, 2 * gram_.cols()));
    gram_.col(model_.size() - 1).noalias() = data_.phi.transpose() * data_.phi.col(column);
  }

  void drop(Index at) {
    const Index last = model_.size() - 1;
    position_[model_.active[at]] = -1;
    for (Index k = at; k < last; ++k) {
      model_.active[k] = model_.active[k + 1];
      model_.alpha[k] = model_.alpha[k + 1];
      position_[model_.active[k]] = k;
      gram_.col(k) = gram_.col(k + 1);
    }
    model_.active.pop_back();
    model_.alpha.conservativeResize(last);
  }

  // Everything from scratch, S and Q too: sparsity and quality factors of all columns (Tipping and Faul, (24), (25)).
  void rebuild() {
    const Index m = model_.size();
    MatrixXd inner(m, m);
    VectorXd projected(m);
    for (Index k = 0; k < m; ++k) {
      projected[k] = projection_[model_.active[k]];
      for (Index j = 0; j < m; ++j) inner(j, k) = gram_(model_.active[j], k);
    }
    refresh(model_, inner, projected, data_);
    const double beta = 1 / model_.noise;
    sparsity_ = beta * norms_;
    quality_ = beta * projection_;
    if (m == 0) return;
    sparsity_ -= beta * beta * (gram_.leftCols(m) * model_.covariance).cwiseProduct(gram_.leftCols(m)).rowwise().sum();
    quality_ -= beta * (gram_.leftCols(m) * model_.mean);
  }

  Action best_action() const {
    Action best;
    best.gain = 1e-10 * (1 + std::abs(model_.evidence));
    for (Index i = 0; i < columns_; ++i) {
      if (refused_[static_cast<std::size_t>(i)]) continue;
      const Index at = position_[i];
      const double big_s = sparsity_[i], big_q = quality_[i];
      Action trial;
      trial.column = i;
      if (at < 0) {
        if (!(norms_[i] > 0) || !(big_s > 1e-10 * norms_[i] / model_.noise)) continue;  // in the span of those in use
        const double theta = big_q * big_q - big_s;
        if (theta <= 0) continue;
        trial.kind = Kind::add;
        trial.alpha = big_s * big_s / theta;
        if (trial.alpha > options_.prune) continue;
        trial.gain = 0.5 * (theta / big_s + std::log(big_s / (big_q * big_q)));
      } else {
        const double a = model_.alpha[at];
        const double room = std::max(a - big_s, 1e-14 * a);
        const double s = a * big_s / room, q = a * big_q / room, theta = q * q - s;
        if (theta > 0 && s * s / theta <= options_.prune) {
          trial.kind = Kind::change;
          trial.alpha = s * s / theta;
          if (std::abs(std::log(trial.alpha / a)) < options_.tol) continue;
          const double shift = 1 / trial.alpha - 1 / a;
          trial.gain = 0.5 * (big_q * big_q / (big_s + 1 / shift) - std::log1p(big_s * shift));
          trial.gain = std::max(trial.gain, 2 * best_floor());  // worth taking for the fixed point alone
        } else if (model_.size() > 1) {
          trial.kind = Kind::remove;
          trial.gain = 0.5 * (big_q * big_q / (big_s - a) - std::log1p(-big_s / a));
          trial.gain = std::max(trial.gain, 2 * best_floor());
        }
      }
      if (trial.kind != Kind::none && trial.gain > best.gain) best = trial;
    }
    return best;
  }
  double best_floor() const { return 1e-10 * (1 + std::abs(model_.evidence)); }

  void apply(const Action& action) {
    const double beta = 1 / model_.noise;
    const Index m = model_.size();
    if (action.kind == Kind::add) {
      append(action.column, action.alpha);
      const double variance = 1 / (action.alpha + sparsity_[action.column]);
      const double mean = variance * quality_[action.column];
      VectorXd inner(m);
      for (Index k = 0; k < m; ++k) inner[k] = gram_(model_.active[k], m);
      const VectorXd w = beta * (model_.covariance * inner);
      const VectorXd e = beta * (gram_.col(m) - gram_.leftCols(m) * w);
      MatrixXd grown(m + 1, m + 1);
      grown.topLeftCorner(m, m) = model_.covariance + variance * w * w.transpose();
      grown.col(m).head(m) = -variance * w;
      grown.row(m).head(m) = -variance * w.transpose();
      grown(m, m) = variance;
      model_.covariance = std::move(grown);
      VectorXd means(m + 1);
      means << model_.mean - mean * w, mean;
      model_.mean = std::move(means);
      sparsity_ -= variance * e.cwiseAbs2();
      quality_ -= mean * e;
      model_.evidence += action.gain;
      return;
    }
    const Index at = position_[action.column];
    const VectorXd column = model_.covariance.col(at);
    const double mean = model_.mean[at];
    const double kappa = action.kind == Kind::remove ? 1 / column[at] : 1 / (column[at] + 1 / (action.alpha - model_.alpha[at]));
    const VectorXd e = beta * (gram_.leftCols(m) * column);
    model_.covariance -= kappa * column * column.transpose();
    model_.mean -= kappa * mean * column;
    sparsity_ += kappa * e.cwiseAbs2();
    quality_ += kappa * mean * e;
    if (action.kind == Kind::change) {
      model_.alpha[at] = action.alpha;
      model_.evidence += action.gain > 2 * best_floor() ? action.gain : 0;
      return;
    }
    drop(at);
    rebuild();
  }

  // One step for s2, shortened until the evidence does not fall; the change of its logarithm.
  double update_noise() {
    rebuild();
    const double old = model_.noise, before = model_.evidence;
    double step = std::log(residual_noise(model_, data_) / old);
    for (int tries = 0; tries < 30 && std::abs(step) > 0.1 * options_.tol; ++tries, step *= 0.5) {
      model_.noise = old * std::exp(step);
      rebuild();
      if (model_.evidence >= before) return std::abs(step);
    }
    model_.noise = old;
    rebuild();
    return 0;
  }

  const Scaled& data_;
  const RvmOptions& options_;
  Monitor& monitor_;
  Index columns_;
  Model model_;
  VectorXd projection_, norms_, sparsity_, quality_;
  std::vector<Index> position_;  // among those in use, or -1
  std::vector<char> refused_;    // columns whose step lowered the evidence
  Snapshot best_;
  MatrixXd gram_;                // Phi' Phi_A
};

// All columns with the same precision a, and s2 where it is learnt, at the largest evidence: with Phi = U diag(d) V' that is a function
// of two numbers, C = s2 I + U diag(d^2 / a) U'.
Model equal_precisions(const Scaled& data, const RvmOptions& options, double noise, Monitor& monitor) {
  Model model;
  for (Index k = 0; k < data.phi.cols(); ++k)
    if (data.phi.col(k).squaredNorm() > 0) model.active.push_back(k);
  const Svd svd(data.phi, SvdParts::thin);
  const Eigen::ArrayXd d2 = svd.singularValues().array().square();
  const Eigen::ArrayXd u2 = (svd.matrixU().transpose() * data.y).array().square();
  const double n = static_cast<double>(data.y.size()), rest = std::max(0.0, data.y.squaredNorm() - u2.sum());
  const double zeros = n - static_cast<double>(d2.size());
  const bool learns = !(options.noise > 0);
  const Objective minus = [&](const VectorXd& p, VectorXd& gradient) {
    const double s2 = learns ? std::exp(p[1]) : noise;
    const Eigen::ArrayXd part = d2 * std::exp(-p[0]), variance = part + s2;
    const Eigen::ArrayXd slope = 0.5 * (1 / variance - u2 / variance.square());  // of minus the evidence, in the variances
    gradient[0] = -(slope * part).sum();
    if (learns) gradient[1] = s2 * (slope.sum() + 0.5 * (zeros / s2 - rest / (s2 * s2)));
    return 0.5 * (variance.log().sum() + (u2 / variance).sum() + zeros * std::log(s2) + rest / s2);
  };
  const Index free = learns ? 2 : 1;
  LbfgsResult best;
  best.value = std::numeric_limits<double>::infinity();
  for (const double down : {0.0, 10.0, 20.0}) {
    VectorXd start = VectorXd::Constant(free, std::log(noise)), lower = VectorXd::Constant(free, std::log(1e-10)), upper(free);
    start[0] = std::log(static_cast<double>(model.size())) - down;
    lower[0] = start[0] - 60;
    upper = VectorXd::Constant(free, std::log(1e2));
    upper[0] = std::log(options.prune);
    LbfgsResult found = lbfgs_box(minus, start, lower, upper, LbfgsOptions(), monitor);
    if (found.value < best.value) best = std::move(found);
  }
  model.alpha = VectorXd::Constant(model.size(), std::exp(best.x[0]));
  model.noise = learns ? std::exp(best.x[1]) : noise;
  model.evidence = -best.value - 0.5 * n * std::log(2 * std::acos(-1.0));
  return model;
}

// From `model`: columns, precisions, noise.
Model fixed_point(const Scaled& data, const RvmOptions& options, Model model, Monitor& monitor, std::vector<double>& trace,
                  Convergence& convergence, double gain = 1e-7, int patience = 20) {
  MatrixXd phi(data.y.size(), model.size());
  for (Index k = 0; k < model.size(); ++k) phi.col(k) = data.phi.col(model.active[k]);
  MatrixXd gram = phi.transpose() * phi;
  VectorXd projection = phi.transpose() * data.y;
  refresh(model, gram, projection, data);
  trace.push_back(model.evidence);
  // `share` of the way to the new precisions and noise, columns beyond `prune` (and, if `drop`, those the data say nothing of) left out.
  const auto moved = [&](const VectorXd& alpha, double noise, double share, bool drop, const VectorXd& gamma, MatrixXd& inner, VectorXd& projected) {
    Model next;
    next.noise = model.noise * std::pow(noise / model.noise, share);
    std::vector<Index> keep;
    std::vector<double> values;
    for (Index k = 0; k < model.size(); ++k) {
      const double a = model.alpha[k] * std::pow(alpha[k] / model.alpha[k], share);
      if (!(a <= options.prune) || (drop && gamma[k] < 1e-4)) continue;
      keep.push_back(k);
      values.push_back(a);
    }
    const Index count = static_cast<Index>(keep.size());
    next.alpha = Eigen::Map<const VectorXd>(values.data(), count);
    inner.resize(count, count);
    projected.resize(count);
    for (Index k = 0; k < count; ++k) {
      next.active.push_back(model.active[keep[k]]);
      projected[k] = projection[keep[k]];
      for (Index j = 0; j < count; ++j) inner(j, k) = gram(keep[j], keep[k]);
    }
    refresh(next, inner, projected, data);
    return next;
  };
  int quiet = 0;
  for (int iteration = 1; iteration <= options.max_iter; ++iteration) {
    monitor.check();
    convergence.iterations = iteration;
    const double before = model.evidence;
    const VectorXd gamma = gammas(model);
    const double noise_to = options.noise > 0 ? model.noise : residual_noise(model, data);
    double change = std::abs(std::log(noise_to / model.noise));
    VectorXd alpha(model.size());
    for (Index k = 0; k < model.size(); ++k) {
      alpha[k] = std::max(gamma[k], 1e-300) / std::max(model.mean[k] * model.mean[k], 1e-300);
      change = std::max(change, gamma[k] * std::abs(std::log(alpha[k] / model.alpha[k])));
    }
    // Precisions on their way to infinity get there slowly: once nothing else moves, weights the data do not determine are out.
    const bool still = change < options.tol;
    MatrixXd inner;
    VectorXd projected;
    bool taken = false;
    for (double share = 1; share > 1e-3 && !taken; share *= 0.5) {
      Model next = moved(alpha, noise_to, share, still, gamma, inner, projected);
      if (!no_less(next.evidence, model.evidence)) continue;
      taken = true;
      const bool dropped = next.size() < model.size();
      model = std::move(next);
      gram = std::move(inner);
      projection = std::move(projected);
      trace.push_back(model.evidence);
      if (!dropped && still) convergence.converged = true;
    }
    if (!taken && still) convergence.converged = true;
    if (convergence.converged) break;
    quiet = model.evidence - before < gain * (1 + std::abs(before)) ? quiet + 1 : 0;
    if (taken && quiet < patience) continue;
    convergence.message = "the evidence no longer rises, though some precisions still move";
    convergence.reason = Stop::stalled;
    break;
  }
  return model;
}

}  // namespace

RvmResult rvm(ConstMatrixRef phi, ConstVectorRef y, const RvmOptions& options, Monitor& monitor) {
  if (phi.rows() != y.size()) throw InputError("the basis must have one row per value of the response.");
  if (y.size() < 1 || phi.cols() < 1) throw InputError("at least one row and one basis function are needed.");
  if (!phi.allFinite() || !y.allFinite()) throw InputError("the basis and the response must be finite.");
  const Stopwatch clock;
  const Scaled data(phi, y);
  const double noise = options.noise > 0 ? options.noise / (data.y_scale * data.y_scale) : 0.1;
  RvmResult result;
  std::vector<double> trace;
  Model model;
  if (options.algorithm == RvmAlgorithm::fast) {
    Fast fast(data, options, noise, monitor);
    model = fast.run(trace, result.convergence);
  } else {
    Model start;
    start.noise = noise;
    for (Index k = 0; k < phi.cols(); ++k)
      if (data.phi.col(k).squaredNorm() > 0) start.active.push_back(k);
    start.alpha = VectorXd::Constant(start.size(), static_cast<double>(start.size()));
    model = fixed_point(data, options, std::move(start), monitor, trace, result.convergence);
  }
  // Either can end in a poor valley. Equal precisions of all columns are the least that an answer must beat; where it does not, the
  // rounds go on from there.
  if (static_cast<double>(phi.rows()) * static_cast<double>(phi.cols()) <= 4e6) {
    Model equal = equal_precisions(data, options, noise, monitor);
    if (equal.size() > 0 && equal.evidence > model.evidence + 1e-6 * (1 + std::abs(model.evidence))) {
      result.convergence = Convergence();
      std::vector<double> again;
      // Many nearly equal columns make a round dear, and what the later ones gain is little.
      model = fixed_point(data, options, std::move(equal), monitor, again, result.convergence, 1e-4, 3);
      trace.insert(trace.end(), again.begin(), again.end());
    }
  }
  const Index m = model.size();
  const VectorXd gamma = gammas(model);
  std::vector<Index> order(static_cast<std::size_t>(m));
  for (Index k = 0; k < m; ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return model.active[a] < model.active[b]; });
  result.precision.resize(m);
  result.mean.resize(m);
  result.gamma.resize(m);
  result.covariance.resize(m, m);
  double residual = 0;
  for (Index k = 0; k < m; ++k) {
    const Index from = order[k];
    const double unit = data.y_scale / data.column_scale[model.active[from]];
    result.relevant.push_back(model.active[from]);
    result.precision[k] = model.alpha[from] / (unit * unit);
    result.mean[k] = model.mean[from] * unit;
    result.gamma[k] = gamma[from];
    residual = std::max(residual, std::abs(model.alpha[from] * model.mean[from] * model.mean[from] - gamma[from]));
    for (Index j = 0; j < m; ++j)
      result.covariance(j, k) =
          model.covariance(order[j], from) * unit * data.y_scale / data.column_scale[model.active[order[j]]];
  }
  const double shift = -static_cast<double>(y.size()) * std::log(data.y_scale);
  result.noise = model.noise * data.y_scale * data.y_scale;
  result.log_evidence = model.evidence + shift;
  result.trace = Eigen::Map<const VectorXd>(trace.data(), static_cast<Index>(trace.size())).array() + shift;
  result.convergence.residual = residual;  // of a_k mu_k^2 = gamma_k
  if (!result.convergence.converged && result.convergence.reason == Stop::stalled && residual <= 1e-4) {  // nothing to gain, and stationary: that is the answer
    result.convergence.converged = true;
    result.convergence.reason = Stop::solved;
    result.convergence.message.clear();
  }
  if (result.convergence.converged && residual > 1e-3) {  // said of the answer, not of the loop
    result.convergence.converged = false;
    result.convergence.reason = Stop::stalled;
    if (result.convergence.message.empty()) result.convergence.message = "no step raises the evidence, but the precisions are not stationary";
  }
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::process
