#include "process/rvm.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

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
void refresh(Model& model, const MatrixXd& gram, const VectorXd& projection, const Scaled& data) {
  const Index m = model.size();
  const double n = static_cast<double>(data.y.size()), beta = 1 / model.noise;
  double log_det = 0, quadratic = beta * data.y.squaredNorm();
  if (m > 0) {
    MatrixXd precision = beta * gram;
    precision.diagonal() += model.alpha;
    const Llt factor(precision);
    if (factor.info() != Eigen::Success) throw NumericalError("the system of the relevance vectors is singular.");
    model.covariance = factor.solve(MatrixXd::Identity(m, m));
    model.mean = beta * factor.solve(projection);
    log_det = 2 * factor.matrixLLT().diagonal().array().log().sum() - model.alpha.array().log().sum();
    quadratic -= beta * projection.dot(model.mean);
  } else {
    model.covariance.resize(0, 0);
    model.mean.resize(0);
  }
  model.evidence = -0.5 * (n * std::log(2 * std::acos(-1.0) * model.noise) + log_det + quadratic);
}

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

  Model run(std::vector<double>& trace, Convergence& convergence) {
    trace.push_back(model_.evidence);
    int since = 0;
    for (int step = 1; step <= options_.max_iter; ++step) {
      monitor_.check();
      convergence.iterations = step;
      const Action action = best_action();
      const bool settled = action.kind == Kind::none;
      if (!settled) {
        apply(action);
        trace.push_back(model_.evidence);
      }
      ++since;
      if (options_.noise > 0) {
        if (settled) convergence.converged = true;
      } else if (settled || since >= 5 + model_.size() / 4) {
        since = 0;
        const double change = update_noise();
        trace.push_back(model_.evidence);
        if (settled && change < options_.tol) convergence.converged = true;
      } else if (since % 50 == 0) {
        rebuild();
      }
      if (convergence.converged) break;
    }
    rebuild();
    return model_;
  }

 private:
  enum class Kind { none, add, remove, change };
  struct Action {
    Kind kind = Kind::none;
    Index column = -1;
    double alpha = 0, gain = 0;
  };

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
    const Llt root(model_.covariance);
    const MatrixXd half = gram_.leftCols(m) * MatrixXd(root.matrixL());
    sparsity_ -= beta * beta * half.rowwise().squaredNorm();
    quality_ -= beta * (gram_.leftCols(m) * model_.mean);
  }

  Action best_action() const {
    Action best;
    best.gain = 1e-10 * (1 + std::abs(model_.evidence));
    for (Index i = 0; i < columns_; ++i) {
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
  MatrixXd gram_;                // Phi' Phi_A
};

Model fixed_point(const Scaled& data, const RvmOptions& options, double noise, Monitor& monitor, std::vector<double>& trace,
                  Convergence& convergence) {
  Model model;
  model.noise = noise;
  for (Index k = 0; k < data.phi.cols(); ++k)
    if (data.phi.col(k).squaredNorm() > 0) model.active.push_back(k);
  model.alpha = VectorXd::Constant(model.size(), static_cast<double>(model.size()));
  MatrixXd phi(data.y.size(), model.size());
  for (Index k = 0; k < model.size(); ++k) phi.col(k) = data.phi.col(model.active[k]);
  MatrixXd gram = phi.transpose() * phi;
  VectorXd projection = phi.transpose() * data.y;
  for (int iteration = 1; iteration <= options.max_iter; ++iteration) {
    monitor.check();
    convergence.iterations = iteration;
    refresh(model, gram, projection, data);
    trace.push_back(model.evidence);
    const VectorXd gamma = gammas(model);
    const double next_noise = options.noise > 0 ? model.noise : residual_noise(model, data);
    double change = std::abs(std::log(next_noise / model.noise));
    VectorXd alpha(model.size());
    for (Index k = 0; k < model.size(); ++k) {
      alpha[k] = std::max(gamma[k], 1e-300) / std::max(model.mean[k] * model.mean[k], 1e-300);
      change = std::max(change, gamma[k] * std::abs(std::log(alpha[k] / model.alpha[k])));
    }
    // Precisions on their way to infinity get there slowly: once nothing else moves, weights the data do not determine are out.
    const bool still = change < options.tol;
    std::vector<Index> keep;
    for (Index k = 0; k < model.size(); ++k)
      if (alpha[k] <= options.prune && !(still && gamma[k] < 1e-4)) keep.push_back(k);
    const bool dropped = static_cast<Index>(keep.size()) < model.size();
    Model next;
    next.noise = next_noise;
    next.alpha.resize(static_cast<Index>(keep.size()));
    MatrixXd smaller(keep.size(), keep.size());
    VectorXd projected(keep.size());
    for (std::size_t k = 0; k < keep.size(); ++k) {
      next.active.push_back(model.active[keep[k]]);
      next.alpha[static_cast<Index>(k)] = alpha[keep[k]];
      projected[static_cast<Index>(k)] = projection[keep[k]];
      for (std::size_t j = 0; j < keep.size(); ++j)
        smaller(static_cast<Index>(j), static_cast<Index>(k)) = gram(keep[j], keep[k]);
    }
    model = std::move(next);
    gram = std::move(smaller);
    projection = std::move(projected);
    if (!dropped && still) {
      convergence.converged = true;
      break;
    }
  }
  refresh(model, gram, projection, data);
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
    model = fixed_point(data, options, noise, monitor, trace, result.convergence);
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
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::process
