#include "core/infer/emission_counts.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary {
namespace {

constexpr double least = 1e-300;  // a share of zero: its logarithm times a count of zero is zero

using ConstMat = Eigen::Map<const MatrixXd>;
using Mat = Eigen::Map<MatrixXd>;

}  // namespace

CountEmission::CountEmission(const DataRows& y, ConstVectorRef weights, Index k, CountLaw law, std::vector<Index> items, double prior)
    : y_(y), k_(k), d_(y.cols()), law_(law), items_(std::move(items)), prior_(prior) {
  const Index n = y.rows();
  if (law_ == CountLaw::categorical && items_.empty()) throw InputError("categorical rows need to know where their items begin.");
  base_ = VectorXd::Zero(n);
  mean_ = VectorXd::Zero(d_);
  VectorXd row(d_);
  double total = 0;
  for (Index i = 0; i < n; ++i) {
    y.row(i, row);
    const double w = weights.size() > 0 ? weights[i] : 1;
    total += w;
    mean_ += w * row;
    if (law_ == CountLaw::categorical) continue;
    double sum = 0;
    for (Index j = 0; j < d_; ++j) {
      if (row[j] == 0) continue;
      if (!(row[j] > 0)) throw InputError(message("counts must not be negative, but row ", i + 1, ", column ", j + 1, " is ", row[j], "."));
      base_[i] -= log_gamma(row[j] + 1);
      sum += row[j];
    }
    if (law_ == CountLaw::multinomial) base_[i] += log_gamma(sum + 1);
    base_sum_ += w * base_[i];
  }
  if (law_ == CountLaw::poisson) {
    mean_ /= total;
  } else {
    shares(mean_);
  }
}

void CountEmission::shares(VectorRef t) const {
  if (law_ == CountLaw::poisson) return;
  const std::vector<Index> whole = {0, d_};
  const std::vector<Index>& at = law_ == CountLaw::categorical ? items_ : whole;
  for (std::size_t g = 0; g + 1 < at.size(); ++g) {
    auto part = t.segment(at[g], at[g + 1] - at[g]);
    const double sum = part.sum();
    if (sum > 0) {
      part /= sum;
    } else {
      part.setConstant(1.0 / static_cast<double>(part.size()));
    }
  }
}

Index CountEmission::free_parameters() const {
  if (law_ == CountLaw::poisson) return k_ * d_;
  if (law_ == CountLaw::multinomial) return k_ * (d_ - 1);
  return k_ * (d_ - static_cast<Index>(items_.size()) + 1);
}

void CountEmission::set(const double* theta) {
  table_ = ConstMat(theta, k_, d_);
  if (!table_.allFinite() || table_.minCoeff() < 0) throw NumericalError("the rates or shares of a state left their domain.");
  logs_ = table_.cwiseMax(least).array().log().matrix();
  bias_ = law_ == CountLaw::poisson ? VectorXd(-table_.rowwise().sum()) : VectorXd(VectorXd::Zero(k_));
}

void CountEmission::log_density(Index from, MatrixRef out) const {
  y_.scores(from, logs_, bias_, out);
  out.colwise() += base_.segment(from, out.rows());
}

void CountEmission::accumulate(Index from, ConstMatrixRef r, double* s) const {
  Eigen::Map<VectorXd>(s, k_) += r.colwise().sum().transpose();
  Mat sums(s + k_, k_, d_);
  y_.add_sums(from, r, sums);
}

void CountEmission::maximise(const double* s, double* theta) {
  const ConstMat sums(s + k_, k_, d_);
  Mat table(theta, k_, d_);
  double weight = 0;
  for (Index h = 0; h < k_; ++h) weight += std::max(0.0, s[h]);
  for (Index h = 0; h < k_; ++h) {
    if (!(s[h] > 1e-10 * weight)) continue;
    VectorXd t = sums.row(h).transpose().cwiseMax(0.0) + prior_ * mean_;
    if (law_ == CountLaw::poisson) {
      t /= s[h] + prior_;
    } else {
      shares(t);
    }
    table.row(h) = t.transpose();
  }
}

double CountEmission::log_prior() const {
  if (prior_ <= 0) return 0;
  double sum = 0;
  for (Index h = 0; h < k_; ++h) sum += prior_ * (logs_.row(h).dot(mean_.transpose()) + bias_[h]);
  return sum;
}

double CountEmission::complete(const double* s) const {
  const ConstMat sums(s + k_, k_, d_);
  double sum = base_sum_ + log_prior();
  for (Index h = 0; h < k_; ++h) sum += sums.row(h).dot(logs_.row(h)) + s[h] * bias_[h];
  return sum;
}

// By columns in units of their own standard deviation: a rate t has information S0 / t, a share t of m draws m / t.
double CountEmission::score(const double* s, double total) const {
  const ConstMat sums(s + k_, k_, d_);
  double worst = 0;
  for (Index h = 0; h < k_; ++h) {
    VectorXd now = sums.row(h).transpose() + prior_ * mean_;
    VectorXd expected(d_);
    if (law_ == CountLaw::poisson) {
      expected = (s[h] + prior_) * table_.row(h).transpose();
    } else {
      const std::vector<Index> whole = {0, d_};
      const std::vector<Index>& at = law_ == CountLaw::categorical ? items_ : whole;
      for (std::size_t g = 0; g + 1 < at.size(); ++g) {
        const Index size = at[g + 1] - at[g];
        expected.segment(at[g], size) = now.segment(at[g], size).sum() * table_.row(h).segment(at[g], size).transpose();
      }
    }
    for (Index j = 0; j < d_; ++j) {
      const double off = std::abs(now[j] - expected[j]);
      if (off > 0) worst = std::max(worst, off / std::sqrt(std::max(table_(h, j), 1e-12)));
    }
  }
  return worst / total;
}

SparseMatrix indicator_columns(const Eigen::Ref<const Eigen::MatrixXi>& codes, const std::vector<int>& levels, std::vector<Index>& items) {
  require(static_cast<Index>(levels.size()) == codes.cols(), "one number of levels per item is needed.");
  items.assign(1, 0);
  for (const int l : levels) {
    require(l >= 1, "every item needs at least one level.");
    items.push_back(items.back() + l);
  }
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(codes.size()));
  for (Index j = 0; j < codes.cols(); ++j) {
    for (Index i = 0; i < codes.rows(); ++i) {
      const int c = codes(i, j);
      if (c == 0) continue;
      require(c > 0 && c <= levels[static_cast<std::size_t>(j)], "a code lies outside the levels of its item.");
      entries.emplace_back(static_cast<int>(i), static_cast<int>(items[static_cast<std::size_t>(j)] + c - 1), 1.0);
    }
  }
  SparseMatrix out(codes.rows(), items.back());
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace granary
