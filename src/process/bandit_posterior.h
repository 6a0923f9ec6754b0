// The posterior of a Gaussian process over a finite set of candidates while points are chosen, some of them still without a
// result.
//
//   y_t = f(x_t) + e_t,  f ~ GP(mean, k),  e ~ N(0, noise)
//
// The variance depends on where was looked, not on what was seen, so it counts all choices; the mean counts the results that have
// come (Desautels, Krause and Burdick, JMLR 2014, section 4). With V_t(x) = L^-1 k(X_t, x), the next choice appends one row to V:
//
//   dense   keeps V for all candidates: O(|D| t) per choice, |D| T doubles
//   lazy    a variance never grows, so an old one is a bound: candidates wait in a heap by their bound of the criterion, and only
//           those that come to its top are brought up to date, each by extending its own column of V (section 6)
//
// Both give the same choices; ties go to the smallest index.
#pragma once

#include <utility>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/linalg/spd.h"
#include "core/base/types.h"

namespace granary::process {

class BanditPosterior {
 public:
  BanditPosterior(const Kernel& kernel, ConstMatrixRef candidates, double noise, double prior_mean, bool lazy);

  Index candidates() const { return x_.rows(); }
  Index chosen() const { return static_cast<Index>(choices_.size()); }
  Index pending() const { return chosen() - static_cast<Index>(seen_.size()); }
  const std::vector<Index>& choices() const { return choices_; }
  double noise() const { return noise_; }
  const Kernel& kernel() const { return kernel_; }
  const MatrixXd& places() const { return x_; }

  void choose(Index candidate);
  void observe(Index choice, double y);  // of the choice at this position, counted from 0; in any order

  // Given the results.
  const VectorXd& mean() const;               // brought up to date when asked for
  double best_seen() const { return best_; }  // -infinity before the first result
  VectorXd seen_variance() const;             // given the places of the results only

  // Given all choices.
  double variance(Index candidate);
  const VectorXd& variances();  // brings all up to date

  // argmax mean + root * sd; first of the largest. `value` gets the maximum.
  Index best_bound(double root, double* value = nullptr);

  // I(f; results of the pending choices | results that have come).
  double pending_information() const;

  // Mean and variance of the result of a pending choice, given those that have come.
  std::pair<double, double> predicted_result(Index choice) const;
  std::vector<Index> pending_choices() const;

  // sum_j |w_j| sd_j over pending choices j, w the weights of their results in the mean at this candidate once they have come,
  // and sd_j of those results as predicted now: how far the mean there may yet move.
  double pending_effect(Index candidate);

  long solves() const { return solves_; }  // variances computed

 private:
  void extend(Index candidate);
  void rebuild_heap(double root);
  double covariance(Index choice, Index candidate) const;

  Kernel kernel_;
  MatrixXd x_;
  double noise_, prior_mean_;
  bool lazy_;
  std::vector<Index> choices_, seen_;  // candidates; positions of choices with a result
  std::vector<double> results_;
  MatrixXd columns_;                       // k(candidates, choice) of each choice; dense only
  MatrixXd v_;                             // candidates x choices; dense only
  std::vector<std::vector<double>> own_;   // lazy: the part of V's column that is known, per candidate
  std::vector<std::vector<double>> rows_;  // of L, diagonal included
  VectorXd variance_, prior_;
  Cholesky seen_chol_;
  mutable VectorXd mean_;
  mutable bool mean_stale_ = false;
  double best_;
  long solves_ = 0;
  std::vector<std::pair<double, Index>> heap_;
  double heap_root_ = -1;
  bool heap_valid_ = false;
};

}  // namespace granary::process
