// Tipping and Faul (2003): one column at a time.
#include <algorithm>
#include <cmath>

#include "process/rvm_model.h"

namespace granary::process {

namespace {

class Fast {
 public:
  Fast(const RvmScaled& data, const RvmOptions& options, double noise, Monitor& monitor)
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
  RvmModel run(std::vector<double>& trace, Convergence& convergence) {
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

  const RvmScaled& data_;
  const RvmOptions& options_;
  Monitor& monitor_;
  Index columns_;
  RvmModel model_;
  VectorXd projection_, norms_, sparsity_, quality_;
  std::vector<Index> position_;  // among those in use, or -1
  std::vector<char> refused_;    // columns whose step lowered the evidence
  Snapshot best_;
  MatrixXd gram_;                // Phi' Phi_A
};

}  // namespace

RvmModel rvm_fast(const RvmScaled& data, const RvmOptions& options, double noise, Monitor& monitor, std::vector<double>& trace,
                  Convergence& convergence) {
  return Fast(data, options, noise, monitor).run(trace, convergence);
}

}  // namespace granary::process
