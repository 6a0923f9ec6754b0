#include "process/bandit_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::process {

namespace {

// A larger criterion comes first, then a smaller index.
bool later(const std::pair<double, Index>& a, const std::pair<double, Index>& b) {
  return a.first < b.first || (a.first == b.first && a.second > b.second);
}

}  // namespace

BanditPosterior::BanditPosterior(const Kernel& kernel, ConstMatrixRef candidates, double noise, double prior_mean, bool lazy)
    : kernel_(kernel),
      x_(candidates),
      noise_(noise),
      prior_mean_(prior_mean),
      lazy_(lazy),
      prior_(kernel.diagonal(candidates, false)),
      best_(-std::numeric_limits<double>::infinity()) {
  if (x_.rows() == 0) throw InputError("there must be at least one candidate.");
  if (!(noise > 0) || !std::isfinite(noise)) throw InputError(message("the noise variance must be positive, got ", noise, "."));
  if (!prior_.allFinite() || prior_.minCoeff() < 0)
    throw InputError("the kernel gives a variance that is negative or not finite.");
  variance_ = prior_;
  mean_ = VectorXd::Constant(x_.rows(), prior_mean_);
  if (lazy_) own_.resize(x_.rows());
}

double BanditPosterior::covariance(Index choice, Index candidate) const {
  return kernel_.cross(x_.row(choices_[choice]), x_.row(candidate))(0, 0);
}

// Brings one candidate's column of V, and with it its variance, up to the present.
void BanditPosterior::extend(Index candidate) {
  std::vector<double>& v = own_[candidate];
  const Index from = static_cast<Index>(v.size()), to = chosen();
  if (from == to) return;
  MatrixXd places(to - from, x_.cols());
  for (Index t = from; t < to; ++t) places.row(t - from) = x_.row(choices_[t]);
  const VectorXd k = kernel_.cross(places, x_.row(candidate));
  v.reserve(to);
  for (Index t = from; t < to; ++t) {
    const std::vector<double>& l = rows_[t];
    const double inner = Eigen::Map<const VectorXd>(l.data(), t).dot(Eigen::Map<const VectorXd>(v.data(), t));
    v.push_back((k[t - from] - inner) / l[t]);
    variance_[candidate] = std::max(0.0, variance_[candidate] - v[t] * v[t]);
  }
  ++solves_;
}

double BanditPosterior::variance(Index candidate) {
  if (lazy_) extend(candidate);
  return variance_[candidate];
}

const VectorXd& BanditPosterior::variances() {
  if (lazy_) {
    for (Index i = 0; i < candidates(); ++i) extend(i);
  }
  return variance_;
}

void BanditPosterior::choose(Index candidate) {
  if (candidate < 0 || candidate >= candidates()) throw InputError(message("there is no candidate ", candidate + 1, "."));
  const Index t = chosen();
  std::vector<double> row(t + 1);
  const double own = variance(candidate);
  row[t] = std::sqrt(own + noise_);
  if (lazy_) {
    std::copy(own_[candidate].begin(), own_[candidate].end(), row.begin());
  } else {
    if (t == v_.cols()) {
      const Index room = std::max<Index>(16, 2 * t);
      v_.conservativeResize(candidates(), room);
      columns_.conservativeResize(candidates(), room);
    }
    for (Index s = 0; s < t; ++s) row[s] = v_(candidate, s);
    kernel_.cross(x_, x_.row(candidate), columns_.col(t));
    v_.col(t) = columns_.col(t);
    if (t > 0) v_.col(t).noalias() -= v_.leftCols(t) * v_.row(candidate).head(t).transpose();
    v_.col(t) /= row[t];
    variance_ = (variance_ - v_.col(t).cwiseAbs2()).cwiseMax(0);
    solves_ += candidates();
  }
  rows_.push_back(std::move(row));
  choices_.push_back(candidate);
}

void BanditPosterior::observe(Index choice, double y) {
  if (choice < 0 || choice >= chosen()) throw InputError(message("choice ", choice + 1, " has not been made."));
  if (!std::isfinite(y)) throw InputError("a result must be a finite number.");
  if (std::find(seen_.begin(), seen_.end(), choice) != seen_.end()) {
    throw InputError(message("choice ", choice + 1, " already has a result."));
  }
  const Index n = static_cast<Index>(seen_.size());
  VectorXd column(n);
  for (Index j = 0; j < n; ++j) column[j] = covariance(seen_[j], choices_[choice]);
  seen_chol_.append(column, prior_[choices_[choice]] + noise_);
  seen_.push_back(choice);
  results_.push_back(y);
  best_ = std::max(best_, y);
  mean_stale_ = true;
  heap_valid_ = false;
}

const VectorXd& BanditPosterior::mean() const {
  if (!mean_stale_) return mean_;
  mean_stale_ = false;
  const Index n = static_cast<Index>(seen_.size());
  const VectorXd alpha = seen_chol_.solve((Eigen::Map<const VectorXd>(results_.data(), n).array() - prior_mean_).matrix());
  mean_.setConstant(prior_mean_);
  if (!lazy_) {
    for (Index j = 0; j < n; ++j) mean_ += alpha[j] * columns_.col(seen_[j]);
    return mean_;
  }
  MatrixXd places(n, x_.cols());
  for (Index j = 0; j < n; ++j) places.row(j) = x_.row(choices_[seen_[j]]);
  constexpr Index block = 1024;
  for (Index from = 0; from < candidates(); from += block) {
    const Index count = std::min(block, candidates() - from);
    mean_.segment(from, count) += kernel_.cross(x_.middleRows(from, count), places) * alpha;
  }
  return mean_;
}

VectorXd BanditPosterior::seen_variance() const {
  const Index n = static_cast<Index>(seen_.size());
  VectorXd result = prior_;
  if (n == 0) return result;
  MatrixXd places(n, x_.cols());
  for (Index j = 0; j < n; ++j) places.row(j) = x_.row(choices_[seen_[j]]);
  constexpr Index block = 1024;
  for (Index from = 0; from < candidates(); from += block) {
    const Index count = std::min(block, candidates() - from);
    const MatrixXd v = seen_chol_.solve_lower(kernel_.cross(places, x_.middleRows(from, count)));
    result.segment(from, count) -= v.colwise().squaredNorm().transpose();
  }
  return result.cwiseMax(0);
}

void BanditPosterior::rebuild_heap(double root) {
  heap_.resize(candidates());
  for (Index i = 0; i < candidates(); ++i) heap_[i] = {mean()[i] + root * std::sqrt(variance_[i]), i};
  std::make_heap(heap_.begin(), heap_.end(), later);
  heap_root_ = root;
  heap_valid_ = true;
}

Index BanditPosterior::best_bound(double root, double* value) {
  if (!lazy_) {
    const VectorXd& centre = mean();
    Index best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (Index i = 0; i < candidates(); ++i) {
      const double at = centre[i] + root * std::sqrt(variance_[i]);
      if (at > most) {
        most = at;
        best = i;
      }
    }
    if (value) *value = most;
    return best;
  }
  if (!heap_valid_ || root != heap_root_) rebuild_heap(root);
  for (;;) {
    const Index i = heap_.front().second;
    if (static_cast<Index>(own_[i].size()) == chosen()) {  // up to date and on top of everyone's bound
      if (value) *value = heap_.front().first;
      return i;
    }
    std::pop_heap(heap_.begin(), heap_.end(), later);
    extend(i);
    heap_.back() = {mean()[i] + root * std::sqrt(variance_[i]), i};
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
}

std::vector<Index> BanditPosterior::pending_choices() const {
  std::vector<bool> known(choices_.size(), false);
  for (const Index s : seen_) known[s] = true;
  std::vector<Index> result;
  for (Index s = 0; s < chosen(); ++s) {
    if (!known[s]) result.push_back(s);
  }
  return result;
}

double BanditPosterior::pending_information() const {
  double sum = -0.5 * (seen_chol_.log_determinant() + static_cast<double>(pending()) * std::log(noise_));
  for (const std::vector<double>& row : rows_) sum += std::log(row.back());
  return std::max(0.0, sum);
}

std::pair<double, double> BanditPosterior::predicted_result(Index choice) const {
  const Index n = static_cast<Index>(seen_.size()), at = choices_[choice];
  double v = prior_[at];
  if (n > 0) {
    VectorXd k(n);
    for (Index j = 0; j < n; ++j) k[j] = covariance(seen_[j], at);
    v = std::max(0.0, v - seen_chol_.inverse_quadratic_form(k));
  }
  return {mean()[at], v + noise_};
}

double BanditPosterior::pending_effect(Index candidate) {
  const Index t = chosen();
  if (pending() == 0) return 0;
  VectorXd w(t);  // weights of all results: L'^-1 V(candidate)
  if (lazy_) {
    extend(candidate);
    w = Eigen::Map<const VectorXd>(own_[candidate].data(), t);
  } else {
    w = v_.row(candidate).head(t).transpose();
  }
  for (Index s = t; s-- > 0;) {
    w[s] /= rows_[s][s];
    for (Index r = 0; r < s; ++r) w[r] -= rows_[s][r] * w[s];
  }
  double sum = 0;
  for (const Index s : pending_choices()) sum += std::abs(w[s]) * std::sqrt(predicted_result(s).second);
  return sum;
}

}  // namespace granary::process
